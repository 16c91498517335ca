import { createHmac } from 'node:crypto';
import { eventually } from '../n8n/until';
import { dialects, fixtures, startSimulator, type Simulator } from '.';
import { call } from './testing/api';
import { Receiver } from './testing/receiver';

describe.each(Object.values(dialects))('completing calls, dialect $name', (dialect) => {
	let sim: Simulator;
	const receiver = new Receiver();
	beforeAll(async () => {
		sim = await startSimulator({ dialect });
		await receiver.start();
	});
	beforeEach(() => {
		sim.reset();
		receiver.received.length = 0;
		receiver.statuses = [];
	});
	afterAll(async () => {
		await sim.stop();
		await receiver.stop();
	});

	const place = async (fields: object = {}) => {
		const { data } = await call(sim, 'POST', '/v1/call', {
			agent_uuid: fixtures.agents.full,
			phone_number: '9876543210',
			country_code: 'IN',
			webhook_url: receiver.url,
			...fields,
		});
		return String(data.call_id);
	};

	it("finishes the record and delivers it in the dialect's form", async () => {
		const id = await place({
			person_name: 'Asha',
			data_extraction: [{ key: 'budget', description: 'Ask' }],
		});
		await sim.completeCall(id, { duration_seconds: 61, transcript: [], recording: true });
		const { data } = await call(sim, 'GET', `/v1/call/${id}`);
		expect(data).toMatchObject({
			call_id: id,
			status: 'picked',
			duration_seconds: 61,
			caller_name: 'Asha',
			data_captured: { budget: 'answer 1' },
		});
		const [delivery] = receiver.received;
		expect(delivery?.body).toEqual(dialect.webhook.body(id, data));
		expect(delivery?.headers).toMatchObject(dialect.webhook.headers(delivery?.text ?? ''));
		expect((await call(sim, 'GET', `/v1/call/${id}/recording`)).status).toBe(200);
	});

	it.each([
		['rings, talks, and ends', {}, true],
		['rings and ends if nobody answers', { status: 'not_picked' }, false],
	])('a call that ends automatically %s', async (_title, outcome, talks) => {
		sim.setAutoComplete({ afterMs: 1_000, outcome });
		jest.useFakeTimers({
			doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'],
		});
		try {
			const placed = sim.state.calls.get(await place({ webhook_url: undefined }));
			const states = [];
			for (const ms of [0, 399, 1, 599, 1]) {
				await jest.advanceTimersByTimeAsync(ms);
				states.push([placed?.isTalking, placed?.finished]);
			}
			const inProgress = [talks, false];
			expect(states).toEqual([
				[false, false],
				[false, false],
				inProgress,
				inProgress,
				[false, true],
			]);
		} finally {
			jest.useRealTimers();
		}
	});

	it('delivers nothing without a webhook URL', async () => {
		const id = await place({ webhook_url: undefined });
		expect(await sim.completeCall(id, { status: 'not_picked' })).toEqual([]);
		const { data } = await call(sim, 'GET', `/v1/call/${id}/transcript`);
		expect(data.transcript).toEqual([]);
	});

	it('delivers twice, 10 at the same time, and again later', async () => {
		const id = await place();
		await sim.completeCall(id, {}, { deliverTimes: 2 });
		await sim.deliverWebhook(id, { deliverTimes: 10, concurrently: true });
		expect(receiver.received).toHaveLength(12);
		expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
	});

	it('can deliver wrong data while the record stays correct', async () => {
		const id = await place();
		await sim.completeCall(id, { status: 'failed' }, { forged: { status: 'picked' } });
		expect(receiver.received[0]?.text).toContain('"status":"picked"');
		expect((await call(sim, 'GET', `/v1/call/${id}`)).data.status).toBe('failed');
	});

	it('retries as often as the dialect', async () => {
		receiver.statuses = [503, 503, 503, 503];
		const [last] = await sim.completeCall(await place());
		expect(receiver.received).toHaveLength(dialect.webhook.attempts);
		expect(last?.status).toBe(503);
	});

	it('can complete before the call request returns', async () => {
		sim.setAutoComplete({ afterMs: 'beforeResponse', outcome: { status: 'not_picked' } });
		const pending = place();
		const id = await pending;
		expect(receiver.received[0]?.text).toContain(id);
		expect(sim.state.calls.get(id)).toMatchObject({
			finished: true,
			outcome: { status: 'not_picked' },
		});
	});

	it('can complete automatically after a delay, with an outcome per call', async () => {
		sim.setAutoComplete({
			afterMs: 5,
			outcome: ({ phone }) => ({ status: phone.endsWith('1') ? 'failed' : 'picked' }),
		});
		const ids = [await place({ phone_number: '9876543211' }), await place()];
		await eventually(() => receiver.received.length === 2);
		const found = ids.map((id) => sim.state.calls.get(id)?.outcome.status);
		expect(found).toEqual(['failed', 'picked']);
	});
});

it('signs deliveries in one dialect', () => {
	const signature = createHmac('sha256', 'terse').update('{}').digest('hex');
	expect(dialects.terse.webhook.headers('{}')).toMatchObject({ 'x-signature': signature });
});
