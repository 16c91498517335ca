import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { call } from './testing/api';

const body = { agent_uuid: fixtures.agents.full, phone_number: '9876543210', country_code: 'IN' };

describe('injected faults', () => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect: dialects.plain });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	const place = async () =>
		await fetch(`${sim.baseUrl}/v1/call`, {
			method: 'POST',
			redirect: 'manual',
			headers: { 'API-Token': sim.token, 'Content-Type': 'application/json' },
			body: JSON.stringify(body),
		});

	it.each([
		['resetBefore', 0],
		['resetMiddle', 1],
		['resetAfter', 1],
	] as const)('%s breaks the connection after %d calls', async (kind, effect) => {
		sim.faults.inject({ kind, times: 1, match: { method: 'post', path: '/v1/call' } });
		await expect(place().then(async (response) => await response.text())).rejects.toThrow();
		expect(sim.callsTo('9876543210')).toBe(effect);
		expect(sim.requests[0]?.outcome.fault).toBe(kind);
		expect((await place()).status).toBe(200);
	});

	it.each([
		['status', { status: 503, retryAfterSeconds: 2 }, 503, /Internal server error/],
		['tooManyRequests', { retryAfterSeconds: 2 }, 429, /Too many requests/],
		['html', {}, 502, /<html>/],
		['successFalseAt200', {}, 200, /"success":false/],
		['redirect', {}, 302, /^$/],
	] as const)('%s: the response, without an effect', async (kind, options, status, text) => {
		sim.faults.inject({ kind, ...options });
		const response = await place();
		expect(response.status).toBe(status);
		expect(await response.text()).toMatch(text);
		expect(response.headers.get('retry-after')).toBe('retryAfterSeconds' in options ? '2' : null);
		expect(sim.placedCalls()).toHaveLength(0);
	});

	it('affects only matching requests, skips some, and ends', async () => {
		sim.faults.inject({
			kind: 'status',
			status: 500,
			skip: 1,
			times: 1,
			match: { path: /^\/v1\/call$/ },
		});
		const statuses = [];
		for (let i = 0; i < 3; i++) statuses.push((await place()).status);
		statuses.push((await call(sim, 'GET', '/v1/active_agents')).status);
		expect(statuses).toEqual([200, 500, 200, 200]);
	});

	it("rejects bodies that aren't JSON, and unknown paths", async () => {
		const headers = { 'API-Token': sim.token, 'Content-Type': 'application/json' };
		const url = `${sim.baseUrl}/v1/call`;
		expect((await fetch(url, { method: 'POST', headers, body: '{' })).status).toBe(400);
		const plainText = { 'API-Token': sim.token, 'Content-Type': 'text/plain' };
		expect((await fetch(url, { method: 'POST', headers: plainText, body: '{}' })).status).toBe(400);
		expect((await call(sim, 'GET', '/v1/nothing')).status).toBe(404);
	});
});

it('records a request whose body is over the limit', async () => {
	const sim = await startSimulator({ dialect: dialects.wrapped });
	const text = 'x'.repeat(dialects.wrapped.general.maxBodyBytes);
	const got = await call(sim, 'POST', '/v1/call', { ...body, system_prompt: text });
	expect(got.status).toBe(413);
	expect(sim.requests).toMatchObject([{ path: '/v1/call', outcome: { status: 413 } }]);
	await sim.stop();
});
