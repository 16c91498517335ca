import { dialects, fixtures } from '.';
import { call, origin } from './testing/api';
import { useSimulator } from './testing/useSimulator';

const good = { agent_uuid: fixtures.agents.full, phone_number: '9876543210', country_code: 'IN' };
const HOUR_MS = 3_600_000;

describe.each(Object.values(dialects))('placing a call, dialect $name', (dialect) => {
	const sim = useSimulator({ dialect });
	const place = async (fields: object = {}, path = '/v1/call') =>
		await call(sim(), 'POST', path, { ...good, ...fields });

	it.each([
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
	])('rejects %j with 400 naming %s', async (fields, name) => {
		const got = await place(fields);
		expect(got).toMatchObject({ status: 400, body: { success: false } });
		expect(origin(got)).toContain(name);
		expect(sim().placedCalls()).toHaveLength(0);
	});

	it.each([undefined, 'simulator-token2'])('responds with 401 to the token %s', async (token) => {
		expect(await call(sim(), 'POST', '/v1/call', good, token ?? null)).toMatchObject({
			status: 401,
			body: { success: false, error: 'Invalid API token', details: null },
		});
		expect(sim().requests[0]?.outcome.token).toBe(token === undefined ? 'missing' : 'invalid');
	});

	it('schedules at a timestamp and at a time of day in India', async () => {
		const later = new Date(Math.floor(Date.now() / 1000) * 1000 + HOUR_MS);
		const stamp = later.toISOString();
		const { data } = await place({ scheduled_at: stamp });
		expect(data).toMatchObject({
			scheduled_at: dialect.calls.scheduledAt(stamp, later.getTime()),
			scheduled_at_epoch: later.getTime() / 1000,
		});
		const timed = await place({ scheduled_at: '10:30' });
		const epoch = Number(timed.data.scheduled_at_epoch) * 1000;
		expect(new Date(epoch).toISOString()).toContain('T05:00:00');
		expect(epoch - Date.now()).toBeGreaterThan(0);
		expect(epoch - Date.now()).toBeLessThanOrEqual(24 * HOUR_MS);
	});

	it('follows its own reading of an ambiguous sentence', async () => {
		const past = await place({ scheduled_at: '2020-01-01T10:00:00+05:30' });
		expect(past.status).toBe(dialect.calls.pastSchedule === 'rejected' ? 400 : 200);
		const zero = await place({ phone_number: '09876543210' });
		expect(zero.status).toBe(dialect.calls.trunkZeroAccepted ? 200 : 400);
		const lower = await place({ country_code: 'in' });
		expect(lower.status).toBe(dialect.calls.lowerCaseCountryAccepted ? 200 : 400);
		const dnd = await place({ phone_number: '9812345678' });
		expect(dnd.status).toBe(dialect.calls.numberOnDnd === 'rejected' ? 400 : 200);
		const inactive = await place({ agent_uuid: fixtures.agents.inactive });
		expect(inactive.status).toBe(dialect.calls.inactiveAgent === 'accepted' ? 200 : 400);
		const emoji = await place({ initial_greeting: '👋'.repeat(2000) });
		expect(emoji.status).toBe(dialect.calls.textLength('👋') === 1 ? 200 : 400);
	});
});
