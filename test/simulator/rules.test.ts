/** What the service rejects, so that the tests of the nodes notice a wrong request. */
import { dialects, fixtures } from '.';
import type { JsonObject } from './json';
import { call, sent } from './testing/api';
import { connect, minted, opened, type SocketClient } from './testing/socketClient';
import { useSimulator } from './testing/useSimulator';

const { open, closed, dormant, inactiveAgent } = fixtures.sessions;
const place = {
	agent_uuid: fixtures.agents.full,
	phone_number: '9876543210',
	country_code: 'IN',
};

describe.each(Object.values(dialects))('dialect $name', (dialect) => {
	const sim = useSimulator({ dialect });
	const onSession = async (part: string, body: unknown, id: string = open) =>
		await call(sim(), 'POST', `/v1/chat/session/${id}/${part}`, body);
	/** Sends each value in the place of the dialect. */
	const inbound = async (message: string, rest: JsonObject = {}) => {
		const names = dialect.chat.inbound;
		const values = { [names.session]: open, [names.message]: message, ...rest };
		const { query, body } = sent(values, dialect.chat.inQuery);
		return await call(sim(), 'POST', `/v1/chat/inbound${query}`, body);
	};

	it("rejects bodies that aren't JSON or too long, and unknown paths", async () => {
		const post = async (body: string, type = 'application/json') => {
			const headers = { 'API-Token': sim().token, 'Content-Type': type };
			return await fetch(`${sim().baseUrl}/v1/call`, { method: 'POST', headers, body });
		};
		expect((await post('{')).status).toBe(400);
		expect((await post('{}', 'text/plain')).status).toBe(400);
		const system_prompt = 'x'.repeat(dialect.general.maxBodyBytes);
		expect((await post(JSON.stringify({ ...place, system_prompt }))).status).toBe(413);
		expect((await call(sim(), 'GET', '/v1/nothing')).status).toBe(404);
	});

	it('ignores a do-not-disturb number in the wrong place', async () => {
		const names = dialect.dnd.add;
		const values = { [names.agent]: place.agent_uuid, [names.phone]: '+919800000004' };
		const { placement, agentPlacement = placement } = names;
		const { query, body } = sent(values, agentPlacement === 'query' ? [] : Object.keys(values));
		const given = query === '' ? body : undefined;
		const got = await call(sim(), 'POST', `/v1/dnd_numbers${query}`, given);
		expect(got.body).toMatchObject({ success: false, error: 'agent_not_found' });
	});

	it('rejects an empty and an overlong chat message', async () => {
		for (const message of ['', 'x'.repeat(dialect.general.maxMessage + 1)]) {
			expect((await inbound(message)).status).toBe(dialect.validation.status);
		}
	});

	it.each(['', '  ', 5, ['x'], undefined])('rejects the context %j', async (context) => {
		const { status } = await onSession('inject_context', { context });
		expect(status).toBe(dialect.validation.status);
	});

	it("mints tokens for the user stream of a session that isn't closed", async () => {
		const { data } = await onSession('ws_token', { stream: 'user' }, dormant);
		expect(Number(data.expires_at) - Date.now() / 1000).toBeGreaterThan(298);
		for (const stream of ['support', '', undefined]) {
			expect((await onSession('ws_token', { stream })).status).toBe(403);
		}
		expect((await onSession('ws_token', { stream: 'user' }, closed)).status).toBe(409);
	});

	describe('the socket of a session', () => {
		const codeOf = async (client: SocketClient) => (await client.untilClosed()).code;

		it('needs the query of its URL, and a token of the session that is valid', async () => {
			const { url, token } = await minted(sim(), open);
			const bare = await connect(url.split('?')[0] ?? '', { token, client_id: 'a' });
			expect(bare.ws.readyState === bare.ws.OPEN).toBe(dialect.socket.urlQuery === '');
			for (const unknown of ['', 'nope']) {
				expect(await codeOf(await connect(url, { token: unknown, client_id: 'a' }))).toBe(4401);
			}
			expect(await codeOf(await connect(url.replace(open, dormant), { token }))).toBe(1008);
			sim().clock.advance(300_001);
			expect(await codeOf(await connect(url, { token }))).toBe(4401);
		});

		it('closes for an inactive agent and for a binary frame', async () => {
			expect(await codeOf(await opened(sim(), inactiveAgent))).toBe(1008);
			const client = await opened(sim(), open);
			client.send(Buffer.from('{}'));
			expect(await codeOf(client)).toBe(1003);
		});

		it('has one client until another one claims it', async () => {
			const first = await opened(sim(), open, 'one');
			expect(await codeOf(await opened(sim(), open, 'two'))).toBe(1008);
			await opened(sim(), open, 'two', '1');
			expect(await codeOf(first)).toBe(dialect.socket.takeOverCode);
			expect(sim().sessions.clientIds(open)).toEqual(['two']);
		});

		it.each([
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
		])('responds to %j with invalid: %s', async (frame, error) => {
			const client = await opened(sim(), open);
			client.send(frame);
			expect(await client.ack()).toMatchObject({ state: 'invalid', error });
		});

		it('accepts an idempotency key for one message, and by one way', async () => {
			const client = await opened(sim(), open);
			const say = async (content: string) => {
				client.send({ type: 'message', content, idempotency_key: 'k1' });
				return await client.ack();
			};
			const first = await say('once');
			expect(await say('once')).toEqual({ ...first, state: 'accepted' });
			expect(await say('other')).toEqual({ state: 'invalid', error: 'idempotency_key_reused' });
			expect(await inbound('once', { idempotency_key: 'k1' })).toMatchObject({
				status: dialect.statuses.keyReused,
				body: { error: 'idempotency_key_rail_conflict' },
			});
			const { messages } = sim().sessions.get(open);
			expect(messages.filter(({ role }) => role === 'user')).toHaveLength(1);
		});
	});
});
