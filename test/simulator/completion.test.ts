import { createHmac } from 'node:crypto';
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

	it('retries as often as the dialect', async () => {
		receiver.statuses = [503, 503, 503, 503];
		const [last] = await sim.completeCall(await place());
		expect(receiver.received).toHaveLength(dialect.webhook.attempts);
		expect(last?.status).toBe(503);
	});
});

it('signs deliveries in one dialect', () => {
	const signature = createHmac('sha256', 'terse').update('{}').digest('hex');
	expect(dialects.terse.webhook.headers('{}')).toMatchObject({ 'x-signature': signature });
});
