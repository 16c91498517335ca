import { eventually } from '../n8n/until';
import { dialects, fixtures, startSimulator, type FaultKind, type Simulator } from '.';
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

	describe('of a recording file', () => {
		const fetchFile = async (kind: FaultKind) => {
			const { data } = await call(sim, 'GET', `/v1/call/${fixtures.calls.finished}/recording`);
			const url = String(data.recording_url);
			sim.faults.inject({ kind, match: { path: new URL(url).pathname } });
			return await fetch(url, { redirect: 'manual' });
		};

		it('cutGzip ends inside the compressed data, with the right length', async () => {
			const response = await fetchFile('cutGzip');
			expect(response.headers.get('content-encoding')).toBe('gzip');
			expect(Number(response.headers.get('content-length'))).toBeGreaterThan(0);
			const whole = sim.state.calls.get(fixtures.calls.finished)?.recording?.length;
			expect((await response.arrayBuffer()).byteLength).toBeLessThan(whole ?? 0);
		});

		it('cutWithoutLength ends with its connection', async () => {
			const response = await fetchFile('cutWithoutLength');
			expect(response.headers.get('content-length')).toBeNull();
			expect(response.headers.get('transfer-encoding')).toBeNull();
			expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
		});

		it('redirectLoop redirects to itself', async () => {
			const { status, headers } = await fetchFile('redirectLoop');
			expect([status, headers.get('location')]).toEqual([302, '']);
		});

		it('hugeBody is written as long as the client reads it', async () => {
			const response = await fetchFile('hugeBody');
			expect([response.status, response.headers.get('content-length')]).toEqual([
				403,
				'1000000000',
			]);
			await response.body?.cancel();
			expect(sim.requests.at(-1)?.outcome.writtenBytes).toBeGreaterThan(0);
		});
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

	it('can fail after the effect', async () => {
		sim.faults.inject({ kind: 'status', status: 500, afterHandling: true });
		expect((await place()).status).toBe(500);
		expect(sim.callsTo('9876543210')).toBe(1);
	});

	it('rejects a request in its text, with any status, although it took effect', async () => {
		sim.faults.inject({ kind: 'rejectingWords', times: 1 });
		sim.faults.inject({
			kind: 'rejectingWords',
			status: 404,
			body: { error: 'Forbidden' },
			times: 1,
		});
		const [first, second] = [await place(), await place()];
		expect([first.status, await first.json()]).toEqual([
			500,
			{ success: false, error: 'call_not_found', details: null },
		]);
		expect([second.status, await second.json()]).toEqual([404, { error: 'Forbidden' }]);
		expect(sim.callsTo('9876543210')).toBe(2);
	});

	it('returns wrong counts', async () => {
		const path = `/v1/campaigns/${fixtures.campaigns.active}/contacts`;
		const push = async () =>
			await call(sim, 'POST', path, {
				agent_uuid: fixtures.agents.full,
				contacts: [{ phone: '9876543210', person_name: 'Asha' }],
			});
		sim.faults.inject({ kind: 'wrongCounts', times: 1 });
		sim.faults.inject({ kind: 'wrongCounts', body: { contacts_received: 9 }, times: 1 });
		expect((await push()).body).toMatchObject({
			success: true,
			data: { contacts_received: 1, contacts_accepted: 0 },
		});
		expect((await push()).body).toMatchObject({
			data: { contacts_received: 9, contacts_accepted: 1 },
		});
		expect(sim.contactsOf(fixtures.campaigns.active)).toHaveLength(2);
	});

	it('truncates the real response', async () => {
		sim.faults.inject({ kind: 'truncatedJson', times: 1 });
		const text = await (await place()).text();
		expect(text).toMatch(/^\{"success":true/);
		expect(() => {
			JSON.parse(text);
		}).toThrow();
	});

	it('hangs until the client gives up, and can still be stopped', async () => {
		const other = await startSimulator({ dialect: dialects.plain });
		other.faults.inject({ kind: 'hang' });
		const pending = fetch(`${other.baseUrl}/v1/active_agents`);
		const settled = pending.catch((error: unknown) => error);
		await eventually(() => other.requests.length > 0);
		await other.stop();
		expect(await settled).toMatchObject({ name: 'TypeError' });
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

	it('redirects to another host, and records whether the token was sent', async () => {
		sim.faults.inject({ kind: 'redirect', times: 1 });
		const target = (await place()).headers.get('location') ?? '';
		await fetch(target);
		expect(sim.requests.at(-1)).toMatchObject({
			path: '/elsewhere',
			outcome: { token: 'missing' },
		});
	});

	it('counts requests, sockets, and concurrent requests', async () => {
		const release = sim.holdResponses();
		const placing = [place(), place(), place()];
		await eventually(() => sim.requests.length === 3);
		release();
		await Promise.all(placing);
		expect(sim.stats()).toMatchObject({ requests: 3, maxActive: 3 });
	});

	it("rejects bodies that aren't JSON, and unknown paths", async () => {
		const headers = { 'API-Token': sim.token, 'Content-Type': 'application/json' };
		const url = `${sim.baseUrl}/v1/call`;
		expect((await fetch(url, { method: 'POST', headers, body: '{' })).status).toBe(400);
		const plainText = { 'API-Token': sim.token, 'Content-Type': 'text/plain' };
		expect((await fetch(url, { method: 'POST', headers: plainText, body: '{}' })).status).toBe(400);
		expect((await call(sim, 'GET', '/v1/nothing')).status).toBe(404);
	});

	it('keeps no bodies on request', async () => {
		const lean = await startSimulator({ dialect: dialects.plain, keepBodies: false });
		await call(lean, 'POST', '/v1/call', body);
		expect(lean.requests[0]).not.toHaveProperty('body');
		expect(lean.callsTo('9876543210')).toBe(1);
		await lean.stop();
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
