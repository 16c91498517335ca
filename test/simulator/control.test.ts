import { dialects, filled, fixtures, startSimulator, type Simulator } from '.';
import { call } from './testing/api';
import { opened } from './testing/socketClient';

const place = { agent_uuid: fixtures.agents.full, phone_number: '9876543210', country_code: 'IN' };

describe('the control API', () => {
	let sim: Simulator;
	beforeAll(async () => {
		sim = await startSimulator({ dialect: dialects.plain });
	});
	beforeEach(() => sim.reset());
	afterAll(async () => await sim.stop());

	const control = async (name: string, body: object = {}) =>
		await call(sim, 'POST', `/__simulator/${name}`, body, null);
	const read = async (name: string): Promise<unknown> =>
		await (await fetch(`${sim.baseUrl}/__simulator/${name}`)).json();

	it('shows state, requests and figures without the token, and does not count itself', async () => {
		await call(sim, 'POST', '/v1/call', place);
		expect(await read('state')).toMatchObject({
			dialect: 'plain',
			token: sim.token,
			agents: expect.arrayContaining([expect.objectContaining({ agentUuid: 'agent_no_number' })]),
			calls: expect.arrayContaining([expect.objectContaining({ placed: true, request: place })]),
		});
		expect(await read('requests')).toMatchObject([
			{ method: 'POST', path: '/v1/call', body: place, outcome: { status: 200, token: 'valid' } },
		]);
		expect(await read('stats')).toMatchObject({ requests: 1 });
		expect(await read('contacts/101')).toEqual([]);
	});

	it('injects and clears faults', async () => {
		const fault = { kind: 'status', status: 503, match: { pathPattern: '^/v1/active' } };
		await control('faults', fault);
		expect((await call(sim, 'GET', '/v1/active_agents')).status).toBe(503);
		await control('faults/clear');
		expect((await call(sim, 'GET', '/v1/active_agents')).status).toBe(200);
		expect((await control('faults', { kind: 'flood' })).status).toBe(400);
	});

	it('fills up with calls, numbers and sessions', async () => {
		await control('fill', { calls: 150, dndPhones: 3, sessions: 2 });
		const { meta } = (await call(sim, 'GET', '/v1/calls')).body;
		expect(meta).toMatchObject({ total_count: 190 });
		expect((await call(sim, 'GET', `/v1/call/${filled.callId(149)}`)).data).toMatchObject({
			status: 'picked',
			caller_name: 'Contact 149',
		});
		expect(sim.state.dndPhones(fixtures.agents.full).has(filled.dndPhone(2))).toBe(true);
		const client = await opened(sim, filled.sessionId(1));
		expect(client.closed).toBeNull();
	});

	it('completes calls, immediately or automatically', async () => {
		const { data } = await call(sim, 'POST', '/v1/call', place);
		await control('completeCall', { callId: data.call_id, outcome: { status: 'failed' } });
		expect(sim.state.calls.get(String(data.call_id))?.outcome.status).toBe('failed');
		expect(await control('completeCall', { callId: 'none' })).toMatchObject({ status: 400 });
		await control('autoComplete', { afterMs: 'beforeResponse', outcome: { status: 'not_picked' } });
		const next = await call(sim, 'POST', '/v1/call', place);
		expect(sim.state.calls.get(String(next.data.call_id))?.finished).toBe(true);
		await control('autoComplete', { afterMs: null });
		const last = await call(sim, 'POST', '/v1/call', place);
		expect(sim.state.calls.get(String(last.data.call_id))?.finished).toBe(false);
	});

	it('drives campaigns', async () => {
		await control('campaign', { id: 101, status: 'Paused' });
		await control('completeUpload', { uploadId: fixtures.uploads.running });
		await control('addAttempt', { campaignId: 101, status: 'failed' });
		const { data } = await call(sim, 'GET', '/v1/campaigns/101/status');
		expect(data).toMatchObject({ campaign: { status: 'Paused' }, calls: { total: 39 } });
		expect((await control('campaign', { id: 104, status: 'Active' })).status).toBe(400);
	});

	it('drives sessions and sockets', async () => {
		const client = await opened(sim, fixtures.sessions.open);
		const sessionId = fixtures.sessions.open;
		await control('pushEvent', { sessionId, type: 'nudge_sent', payload: { idle_seconds: 9 } });
		expect(await client.event('nudge_sent')).toMatchObject({ payload: { idle_seconds: 9 } });
		await control('pushRaw', { sessionId, base64: 'AAE=' });
		await client.until(() => client.raw.some((frame) => Buffer.isBuffer(frame)));
		expect((await control('sockets')).body).toMatchObject({ result: { open: 1, connected: 1 } });
		await control('setMode', { sessionId, mode: 'support' });
		await client.event('mode_changed');
		await control('closeSockets', { code: 1011, sessionId });
		expect((await client.untilClosed()).code).toBe(1011);
		const { body } = await control('createSession', {});
		expect(sim.state.sessions.has(String(body.result))).toBe(true);
	});

	it('changes settings while it runs', async () => {
		await control('settings', { wsTokenLifetimeMs: 60_000, latencyMs: 'slow' });
		const path = `/v1/chat/session/${fixtures.sessions.open}/ws_token`;
		const { data } = await call(sim, 'POST', path, { stream: 'user' });
		expect(Number(data.expires_at) - Date.now() / 1000).toBeLessThan(61);
		await control('settings', { wsTokenLifetimeMs: 300_000 });
	});

	it('starts again', async () => {
		await call(sim, 'POST', '/v1/call', place);
		await control('reset');
		expect(sim.placedCalls()).toHaveLength(0);
		expect(sim.requests).toHaveLength(0);
		expect(sim.state.campaigns.size).toBe(4);
	});
});
