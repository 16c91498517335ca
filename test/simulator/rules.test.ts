/** Calls and contacts that the service rejects, so that the tests of the nodes notice a wrong request. */
import { ENDPOINTS } from '../openapi/openapi';
import { dialects, fixtures } from '.';
import { rejected } from './http/route';
import { requireDocumented } from './http/validation';
import { call, origin } from './testing/api';
import { useSimulator } from './testing/useSimulator';

const { agents, campaigns } = fixtures;
const agent_uuid = agents.full;
const goodCall = { agent_uuid, phone_number: '9876543210', country_code: 'IN' };

describe.each(Object.values(dialects))('dialect $name', (dialect) => {
	const sim = useSimulator({ dialect });
	const place = async (fields: object = {}) =>
		await call(sim(), 'POST', '/v1/call', { ...goodCall, ...fields });
	const push = async (contacts: object[]) => {
		const path = `/v1/campaigns/${campaigns.active}/contacts`;
		return await call(sim(), 'POST', path, { agent_uuid, contacts });
	};

	test.each(['simulator-token2', null])('the token %s', async (token) => {
		const headers: Record<string, string> = token === null ? {} : { 'API-Token': token };
		expect(await call(sim(), 'POST', '/v1/call', goodCall, headers)).toMatchObject({
			status: 401,
			body: { success: false, error: 'Invalid API token', details: null },
		});
	});

	test('contacts for an archived campaign', async () => {
		const path = `/v1/campaigns/${campaigns.archived}/contacts`;
		const contacts = [{ phone: '9876543210' }];
		expect(await call(sim(), 'POST', path, { agent_uuid, contacts })).toMatchObject({
			status: 409,
			body: { success: false },
		});
	});

	test.each(ENDPOINTS)('$name with an unknown parameter', async ({ method, path }) => {
		const { body } = await call(sim(), method, `${path}?guessed_7q=1`);
		expect(body.success).toBe(false);
		expect(JSON.stringify(body)).toContain('guessed_7q');
	});

	test.each(ENDPOINTS.filter(({ method }) => method !== 'GET'))(
		'$name with an unknown member',
		async ({ method, path }) => {
			const { body } = await call(sim(), method, path, { guessed_7q: 1 });
			expect(body.success).toBe(false);
			expect(JSON.stringify(body)).toContain('guessed_7q');
		},
	);

	// By the description of the interface: one of each kind.
	test.each([
		[{ agent_uuid: undefined }, 'agent_uuid'],
		[{ agent_uuid: 'My agent' }, 'agent_uuid'],
		[{ phone_number: 9876543210 }, 'phone_number'],
		[{ phone_number: '+919876543210' }, 'phone_number'],
		[{ initial_greeting: 'x'.repeat(2001) }, 'initial_greeting'],
		[{ additional_data: null }, 'additional_data'],
		[{ webhook_url: 'hooks.example' }, 'webhook_url'],
		[{ call_config_overrides: { language: 'hi' } }, 'call_config_overrides.language'],
		[{ call_config_overrides: { max_call_duration_seconds: 29 } }, 'max_call_duration_seconds'],
		[{ call_config_overrides: { max_call_duration_seconds: 60.5 } }, 'max_call_duration_seconds'],
		[{ call_config_overrides: { retry_config: { max_attempts: 11 } } }, 'max_attempts'],
		[{ data_extraction: {} }, 'data_extraction'],
		[{ data_extraction: [{ description: 'x', guessed: 1 }] }, 'data_extraction[0].guessed'],
		[{ data_extraction: [{ description: '' }] }, 'data_extraction[0].description'],
		[{ scheduled_at: '2030-01-01T10:00:00' }, 'scheduled_at'],
		// Not in the description.
		[{ phone_number: '98765' }, 'phone_number'],
		[{ country_code: 'XX' }, 'country_code'],
		[{ scheduled_at: '25:00' }, 'scheduled_at'],
	])('a call with %j, naming %s', async (fields, name) => {
		const got = await place(fields);
		expect(got).toMatchObject({ status: 400, body: { success: false } });
		expect(origin(got)).toContain(name);
		expect(sim().placedCalls()).toHaveLength(0);
	});

	test.each<unknown>([
		...['5876543210', '987654321', '98765 43210', '919876543210', '+1 2025550143'],
		...[9876543210, undefined],
	])('a contact with the phone %j, naming its index', async (phone) => {
		const got = await push([{ phone: '9876543210' }, { phone }]);
		expect(got.status).toBe(400);
		expect(origin(got)).toContain(`contacts[${1 + dialect.campaigns.firstContactIndex}]`);
		expect(sim().contactsOf(campaigns.active)).toHaveLength(0);
	});
});

test('an error that its endpoint does not have', () => {
	const endpoint = ENDPOINTS.find(({ name }) => name === 'POST /v1/call');
	const respond = (status: number, error: string) => () =>
		endpoint && requireDocumented(endpoint, rejected(status, error));
	expect(respond(403, 'Agent not found or not associated with this account')).not.toThrow();
	expect(respond(403, 'Not your agent')).toThrow("POST /v1/call can't return 403 with");
});
