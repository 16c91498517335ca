/** What the service rejects, so that the tests of the nodes notice a wrong request. */
import { dialects, fixtures } from '.';
import type { JsonObject } from './json';
import { call, origin, sent } from './testing/api';
import { connect, minted, opened } from './testing/socketClient';
import { useSimulator } from './testing/useSimulator';

const { agents, campaigns, sessions } = fixtures;
const { open, closed, dormant, inactiveAgent } = sessions;
const agent_uuid = agents.full;
const goodCall = { agent_uuid, phone_number: '9876543210', country_code: 'IN' };
const HOUR_MS = 3_600_000;

describe.each(Object.values(dialects))('dialect $name', (dialect) => {
	const sim = useSimulator({ dialect });
	const place = async (fields: object = {}) =>
		await call(sim(), 'POST', '/v1/call', { ...goodCall, ...fields });
	const push = async (contacts: unknown, rest: object = {}) => {
		const path = `/v1/campaigns/${campaigns.active}/contacts`;
		return await call(sim(), 'POST', path, { agent_uuid, contacts, ...rest });
	};
	const onSession = async (part: string, body: unknown, id: string = open) =>
		await call(sim(), 'POST', `/v1/chat/session/${id}/${part}`, body);
	/** Sends each value in the place of the dialect. */
	const inbound = async (message: string, rest: JsonObject = {}) => {
		const names = dialect.chat.inbound;
		const values = { [names.session]: open, [names.message]: message, ...rest };
		const { query, body } = sent(values, dialect.chat.inQuery);
		return await call(sim(), 'POST', `/v1/chat/inbound${query}`, body);
	};

	test("a body that isn't JSON, and an unknown path", async () => {
		const post = async (body: string, type = 'application/json') => {
			const headers = { 'API-Token': sim().token, 'Content-Type': type };
			return await fetch(`${sim().baseUrl}/v1/call`, { method: 'POST', headers, body });
		};
		expect((await post('{')).status).toBe(400);
		expect((await post('{}', 'text/plain')).status).toBe(400);
		expect((await call(sim(), 'GET', '/v1/nothing')).status).toBe(404);
	});

	test.each(['simulator-token2', null])('the token %s', async (token) => {
		expect(await call(sim(), 'POST', '/v1/call', goodCall, token)).toMatchObject({
			status: 401,
			body: { success: false, error: 'Invalid API token', details: null },
		});
	});

	test.each([
		[{ agent_uuid: undefined }, 'agent_uuid'],
		[{ phone_number: undefined }, 'phone_number'],
		[{ phone_number: 9876543210 }, 'phone_number'],
		[{ phone_number: '+919876543210' }, 'phone_number'],
		[{ phone_number: '98765 43210' }, 'phone_number'],
		[{ phone_number: '98765' }, 'phone_number'],
		[{ country_code: undefined }, 'country_code'],
		[{ country_code: 'XX' }, 'country_code'],
		[{ country_code: 'India' }, 'country_code'],
		[{ initial_greeting: 'x'.repeat(2001) }, 'initial_greeting'],
		[{ system_prompt: 5 }, 'system_prompt'],
		[{ additional_data: [1] }, 'additional_data'],
		[{ additional_data: 'x' }, 'additional_data'],
		[{ additional_data: null }, 'additional_data'],
		[{ webhook_url: 'ftp://host/x' }, 'webhook_url'],
		[{ webhook_url: 'http:///x' }, 'webhook_url'],
		[{ webhook_url: 'hooks.example' }, 'webhook_url'],
		[{ call_config_overrides: [] }, 'call_config_overrides'],
		[{ call_config_overrides: { max_call_duration_seconds: 29 } }, 'max_call_duration_seconds'],
		[{ call_config_overrides: { max_call_duration_seconds: 1801 } }, 'max_call_duration_seconds'],
		[{ call_config_overrides: { max_call_duration_seconds: 60.5 } }, 'max_call_duration_seconds'],
		[{ call_config_overrides: { enable_callback: 'yes' } }, 'enable_callback'],
		[{ call_config_overrides: { retry_config: { max_attempts: 0 } } }, 'max_attempts'],
		[{ call_config_overrides: { retry_config: { max_attempts: 11 } } }, 'max_attempts'],
		[{ call_config_overrides: { retry_config: { interval_minutes: 0 } } }, 'interval_minutes'],
		[{ call_config_overrides: { retry_config: { interval_minutes: 1441 } } }, 'interval_minutes'],
		[{ call_config_overrides: { retry_config: { enabled: 1 } } }, 'enabled'],
		[{ data_extraction: {} }, 'data_extraction'],
		[{ data_extraction: [{ key: 'x' }] }, 'data_extraction[0].description'],
		[{ data_extraction: [{ description: '' }] }, 'data_extraction[0].description'],
		[{ scheduled_at: '25:00' }, 'scheduled_at'],
		[{ scheduled_at: '9:30' }, 'scheduled_at'],
		[{ scheduled_at: '2030-01-01T10:00:00' }, 'scheduled_at'],
	])('a call with %j, naming %s', async (fields, name) => {
		const got = await place(fields);
		expect(got).toMatchObject({ status: 400, body: { success: false } });
		expect(origin(got)).toContain(name);
		expect(sim().placedCalls()).toHaveLength(0);
	});

	test('a call is scheduled at a timestamp and at a time of day in India', async () => {
		const later = Math.floor(Date.now() / 1000) + 3600;
		const { data } = await place({ scheduled_at: new Date(later * 1000).toISOString() });
		expect(data).toMatchObject({
			scheduled_at: expect.stringContaining('+05:30'),
			scheduled_at_epoch: later,
		});
		const timed = await place({ scheduled_at: '10:30' });
		const epoch = Number(timed.data.scheduled_at_epoch) * 1000;
		expect(new Date(epoch).toISOString()).toContain('T05:00:00');
		expect(epoch - Date.now()).toBeGreaterThan(0);
		expect(epoch - Date.now()).toBeLessThanOrEqual(24 * HOUR_MS);
	});

	test('a call, by the reading of an ambiguous sentence', async () => {
		const { calls } = dialect;
		const emoji = '👋'.repeat(2000);
		const readings: Array<[object, boolean]> = [
			[{ scheduled_at: '2020-01-01T10:00:00+05:30' }, calls.pastSchedule === 'placedNow'],
			[{ phone_number: '09876543210' }, calls.trunkZeroAccepted],
			[{ country_code: 'in' }, calls.lowerCaseCountryAccepted],
			[{ phone_number: '9812345678' }, calls.numberOnDnd === 'notDialed'],
			[{ agent_uuid: agents.inactive }, calls.inactiveAgent === 'accepted'],
			[{ initial_greeting: emoji }, calls.textLength('👋') === 1],
		];
		for (const [fields, isAccepted] of readings) {
			expect({ fields, ...(await place(fields)) }).toMatchObject({
				status: isAccepted ? 200 : 400,
			});
		}
	});

	test.each([
		['5876543210'],
		['987654321'],
		['98765 43210'],
		['919876543210'],
		['+9198765432101'],
		['+1 2025550143'],
		[9876543210],
		[''],
		[undefined],
	])('a contact with the phone %j, naming its index', async (phone) => {
		const got = await push([{ phone: '9876543210' }, { phone }]);
		expect(got.status).toBe(400);
		expect(origin(got)).toContain(`contacts[${1 + dialect.campaigns.firstContactIndex}]`);
		expect(sim().contactsOf(campaigns.active)).toHaveLength(0);
	});

	test('one bad contact or all of them, and other +91 numbers, as the dialect does', async () => {
		const { firstContactIndex, reportsEveryBadContact, plus91NeedsMobile } = dialect.campaigns;
		const text = origin(await push([{ phone: '1' }, { phone: '2' }]));
		expect(text).toContain(`contacts[${firstContactIndex}]`);
		expect(text.includes(`contacts[${firstContactIndex + 1}]`)).toBe(reportsEveryBadContact);
		const { status } = await push([{ phone: '+911126543210' }]);
		expect(status).toBe(plus91NeedsMobile ? 400 : 200);
	});

	test('more than 10,000 contacts', async () => {
		const contacts = Array.from({ length: 10_001 }, (_, i) => ({
			phone: String(9_000_000_000 + i),
		}));
		expect((await push(contacts)).status).toBe(400);
		expect(await push(contacts.slice(1))).toMatchObject({
			status: 200,
			data: { contacts_accepted: 10_000 },
		});
	});

	test.each([
		[{ contacts: {} }, 'contacts'],
		[{ contacts: undefined }, 'contacts'],
		[{ agent_uuid: 5 }, 'agent_uuid'],
		[{ agent_uuid: undefined }, 'agent_uuid'],
		[{ enqueue: 'yes' }, 'enqueue'],
	])('a push with %j', async (rest, name) => {
		const got = await push([{ phone: '9876543210' }], rest);
		expect(got.status).toBe(400);
		expect(origin(got)).toContain(name);
	});

	test('a push to the calling queue by an agent without a number', async () => {
		const contacts = [{ phone: '9876543210' }];
		const rest = { agent_uuid: agents.noNumber };
		expect((await push(contacts, rest)).status).toBe(200);
		expect(await push(contacts, { ...rest, enqueue: true })).toMatchObject({
			status: dialect.statuses.noOutboundNumber,
			body: { details: { error_code: 'NO_OUTBOUND_NUMBER_CONFIGURED' } },
		});
	});

	test('a do-not-disturb number in the wrong place', async () => {
		const names = dialect.dnd.add;
		const values = { [names.agent]: agent_uuid, [names.phone]: '+919800000004' };
		const { placement, agentPlacement = placement } = names;
		const { query, body } = sent(values, agentPlacement === 'query' ? [] : Object.keys(values));
		const given = query === '' ? body : undefined;
		const got = await call(sim(), 'POST', `/v1/dnd_numbers${query}`, given);
		expect(got.body).toMatchObject({ success: false, error: 'agent_not_found' });
	});

	test('an empty chat message', async () => {
		expect((await inbound('')).status).toBe(dialect.validation.status);
	});

	test.each(['', '  ', 5, ['x'], undefined])('the context %j', async (context) => {
		const { status } = await onSession('inject_context', { context });
		expect(status).toBe(dialect.validation.status);
	});

	test('a token for another stream, or for a closed session', async () => {
		const { data } = await onSession('ws_token', { stream: 'user' }, dormant);
		expect(Number(data.expires_at) - Date.now() / 1000).toBeGreaterThan(298);
		for (const stream of ['support', '', undefined]) {
			expect((await onSession('ws_token', { stream })).status).toBe(403);
		}
		expect((await onSession('ws_token', { stream: 'user' }, closed)).status).toBe(409);
	});

	describe('the socket of a session', () => {
		test('without the query of its URL, or without a valid token of the session', async () => {
			const { url, token } = await minted(sim(), open);
			const bare = await connect(url.split('?')[0] ?? '', { token, client_id: 'a' });
			expect(bare.ws.readyState === bare.ws.OPEN).toBe(dialect.socket.urlQuery === '');
			const codeOf = async (address: string, given: string) =>
				await (await connect(address, { token: given, client_id: 'a' })).closed();
			for (const unknown of ['', 'nope']) expect(await codeOf(url, unknown)).toBe(4401);
			expect(await codeOf(url.replace(open, dormant), token)).toBe(1008);
			sim().clock.advance(300_001);
			expect(await codeOf(url, token)).toBe(4401);
		});

		test('of an inactive agent, and a binary frame', async () => {
			expect(await (await opened(sim(), inactiveAgent)).closed()).toBe(1008);
			const client = await opened(sim(), open);
			client.ws.send(Buffer.from('{}'));
			expect(await client.closed()).toBe(1003);
		});

		test.each([
			['{oops', 'bad_json'],
			['[1]', 'bad_payload'],
			[{ content: 5 }, 'bad_payload'],
			[{ content: 'x', message_id: 5 }, 'bad_payload'],
			[{ content: 'x', idempotency_key: '' }, 'bad_payload'],
			[{ type: 'message' }, 'message_required'],
			[{ type: 'message', content: ' ' }, 'message_required'],
			[{ type: 'dance', content: 'x' }, 'invalid_input_type'],
			[{ type: 'interaction_response', option_id: 'yes' }, 'bad_payload'],
			[
				{ type: 'interaction_response', interaction_id: 'none', option_id: 'yes' },
				'invalid_interaction',
			],
		])('the frame %j: %s', async (frame, error) => {
			const client = await opened(sim(), open);
			expect(await client.send(frame)).toMatchObject({ state: 'invalid', error });
		});
	});
});
