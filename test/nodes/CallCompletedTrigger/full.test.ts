import { randomUUID } from 'node:crypto';
import type { INode } from 'n8n-workflow';
import { notePlaced } from '../../../nodes/shared/calls/placedCalls';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import {
	activate,
	callWebhook,
	engineHarness,
	makeWorkflow,
	speedUp,
	type ActiveWorkflow,
} from '../../engine';
import { until } from '../../n8n/until';
import { dialects, fixtures, startSimulator, type Simulator } from '../../simulator';

const harness = engineHarness();
const { calls } = fixtures;

const MAX_IN_FLIGHT = 5_000;
/** Unknown calls that are read immediately. */
const MAX_UNKNOWN_AT_ONCE = 60;
/** Others that wait in a process without the trigger. */
const MAX_WAITING_WEBHOOKS = 50;

let simulator: Simulator;
let active: ActiveWorkflow | undefined;

beforeAll(async () => {
	simulator = await startSimulator({ dialect: dialects.plain });
});
beforeEach(() => speedUp(0));
afterEach(async () => {
	speedUp(1_000);
	await active?.stop();
	active = undefined;
	jest.restoreAllMocks();
	simulator.reset();
});
afterAll(async () => await simulator.stop());

async function trigger(): Promise<INode> {
	const { baseUrl, token: apiToken } = simulator;
	const credentials = { [CREDENTIAL]: await harness.addCredential({ baseUrl, apiToken }) };
	return harness.node('callCompletedTrigger', { id: randomUUID(), credentials });
}

function deliver(node: INode, callId: string, workflow = makeWorkflow([node])) {
	const request = { rawBody: Buffer.from(JSON.stringify({ call_id: callId })) };
	const delivery = callWebhook(harness.credentials, workflow, node, request);
	return {
		accepted: async () => (await delivery).result,
		response: async () => {
			const { response, answered } = await delivery;
			await answered;
			return response;
		},
	};
}

/** Delivers unknown calls, which wait while the service doesn't respond. */
async function flood(node: INode, count: number): Promise<void> {
	const deliveries = Array.from({ length: count }, () => deliver(node, randomUUID()));
	await Promise.all(deliveries.map(async ({ accepted }) => await accepted()));
}

describe('while the trigger verifies 5,000 calls', () => {
	let node: INode;
	let running: ActiveWorkflow;
	let release: () => void;

	beforeEach(async () => {
		release = simulator.holdResponses();
		node = await trigger();
		running = active = await activate(harness.credentials, makeWorkflow([node]));
		await flood(node, MAX_IN_FLIGHT);
	});

	test('it asks the sender of another call to try again, and notifies the owner', async () => {
		expect(await deliver(node, calls.finished).response()).toMatchObject({
			statusCode: 503,
			body: { received: false },
		});
		release();
		speedUp(100);
		const rejections = () => running.failed.filter(({ message }) => / rejected, /.test(message));
		await until('the notification', async () => Promise.resolve(rejections().length > 0));
		expect(rejections().map(({ message }) => message)).toEqual([
			'1 notification of completed calls was rejected, because 5,000 others were waiting',
		]);
	});

	test('a call that this workflow placed starts it', async () => {
		release();
		notePlaced(calls.finished);
		expect(await deliver(node, calls.finished).response()).toMatchObject({ statusCode: 200 });
		expect(running.emitted).toHaveLength(1);
	});
});

test('a trigger that is no longer busy verifies the next call', async () => {
	const release = simulator.holdResponses();
	const node = await trigger();
	const running = (active = await activate(harness.credentials, makeWorkflow([node])));
	const waiting = Array.from({ length: MAX_IN_FLIGHT }, () => deliver(node, randomUUID()));
	await Promise.all(waiting.map(async ({ accepted }) => await accepted()));
	expect(await deliver(node, calls.notPicked).response()).toMatchObject({ statusCode: 503 });
	release();
	speedUp(10);
	// The first ones are read immediately, and end as unknown.
	const [first] = waiting;
	expect(await first?.response()).toMatchObject({ statusCode: 404 });
	speedUp(2);
	expect(await deliver(node, calls.notPicked).response()).toMatchObject({ statusCode: 200 });
	expect(running.emitted).toHaveLength(1);
});

test('in a process without the trigger, 50 calls wait to be read, and others are rejected', async () => {
	const node = await trigger();
	const workflow = makeWorkflow([node]);
	// After some time, the trigger counts as active in another process.
	speedUp(1_000);
	await deliver(node, calls.finished, workflow).accepted();
	speedUp(0);
	const release = simulator.holdResponses();
	const sent = Array.from({ length: MAX_UNKNOWN_AT_ONCE + MAX_WAITING_WEBHOOKS }, () =>
		deliver(node, randomUUID(), workflow),
	);
	const rejected = deliver(node, calls.notPicked, workflow);
	expect(await rejected.response()).toMatchObject({ statusCode: 503, body: { received: false } });
	release();
	speedUp(100);
	const responses = await Promise.all(sent.map(async ({ response }) => await response()));
	const statuses = responses.map(({ statusCode }) => statusCode);
	expect(statuses.slice(0, MAX_UNKNOWN_AT_ONCE)).toEqual(Array(MAX_UNKNOWN_AT_ONCE).fill(404));
});
