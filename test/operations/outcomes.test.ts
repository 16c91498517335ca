/** What each operation does with On Error, in a retry, and as a tool. */
import get from 'lodash/get';
import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
import nock from 'nock';
import { z } from 'zod';
import { credentialFor } from '../contract/credentialFor';
import { simulatorWithSockets } from '../contract/simulatedNodes';
import {
	engineHarness,
	engineTool,
	executeRaw,
	oneNodeWorkflow,
	output,
	records,
	resume,
	retryFailed,
	runKilled,
	runNode,
	storedCopy,
} from '../engine';
import { endpointOf } from '../openapi/openapi';
import { dialects } from '../simulator';
import { OPERATIONS, operationNamed, SOCKET, TRIGGER_URL, useOf } from './operations';

const harness = engineHarness();
const simulator = simulatorWithSockets(dialects.plain);
afterEach(() => nock.cleanAll());

/** Two people, because a number isn't called twice in an execution. */
const SEVERAL: { [node: string]: INodeParameters } = {
	placeCall: { phoneNumber: '=987654321{{ $itemIndex }}' },
};

/** The operation for each item of the input, in a prepared service. */
async function nodeOf(name: string, over: Partial<INode> = {}, own?: INodeParameters) {
	operationNamed(name).prepare?.(simulator());
	const { node, parameters } = useOf(name);
	return await harness.nodeWith(credentialFor(simulator()), node, {
		parameters: { ...parameters, ...(own ?? SEVERAL[node]) },
		...over,
	});
}

const TWO = [{ json: {} }, { json: {} }];

const itemOf = z.object({ item: z.number() });
const OUTPUTS = z.array(z.array(z.object({ pairedItem: z.union([itemOf, z.array(itemOf)]) })));

test.each(Object.keys(OPERATIONS))('%s pairs each item of its output', async (name) => {
	nock(new URL(TRIGGER_URL).origin).post(/./).optionally().times(2).reply(200, { watched: true });
	const { items = TWO.slice(1), servesAllItems = false } = operationNamed(name);
	const node = await nodeOf(name, { onError: 'continueRegularOutput' });
	// Before n8n pairs the others.
	const outputs = OUTPUTS.parse(await executeRaw(node, [...items, ...items]));
	const paired = outputs.flat().flatMap(({ pairedItem }) => pairedItem);
	if (servesAllItems) expect(paired).toContainEqual({ item: 0 });
	else expect(paired).toEqual([{ item: 0 }, { item: 1 }]);
});

/** The service, and triggers of other workflows, reject every request. */
function rejectAll() {
	simulator().faults.respond(/./, 422, { body: { success: false, error: 'not today' } });
	nock(new URL(TRIGGER_URL).origin).post(/./).optionally().times(2).reply(422, '');
}

/** Push has outputs for its rows, and these numbers are in n8n. */
const OWN_OUTPUTS = ['pushCampaignContacts', 'dnd › forget'];
const FAILING = Object.keys(OPERATIONS).filter((name) => !OWN_OUTPUTS.includes(name));

/** A rejection by a live connection's token request shows that nothing was sent. */
const NOT_SENT = ['chatSend › sendMessage', 'chatSend › answerInteraction'];
const FAILURES: { [name: string]: IDataObject } = {
	...Object.fromEntries(NOT_SENT.map((name) => [name, { outcome: 'not_sent' }])),
	'chatSession › waitForEvent': { outcome: 'not_sent' },
	'chatSession › unwatch': { outcome: 'unknown', response_said: 'HTTP status 422' },
};
const REJECTED = { outcome: 'rejected', service_said: 'not today', status: 422 };

describe.each(FAILING)('if the service rejects the items of %s', (name) => {
	const failed = (item: number) => ({
		json: {
			error: expect.stringMatching(new RegExp(`\\[row ${item + 1}\\]$`)),
			message: expect.any(String),
			details: { item, ...(FAILURES[name] ?? REJECTED) },
		},
		pairedItem: { item },
	});

	test('the node stops at the first one', async () => {
		rejectAll();
		const { data } = await runNode(await nodeOf(name), TWO);
		expect(data.resultData.error?.message).toMatch(/\[row 1\]$/);
		// With it, n8n would name the row once more, counted from 0.
		expect(get(data.resultData.error, 'context.itemIndex')).toBeUndefined();
	});

	test('with Continue, each of them is returned with its error', async () => {
		rejectAll();
		const run = await runNode(await nodeOf(name, { onError: 'continueRegularOutput' }), TWO);
		expect(output(run, 'Node')).toMatchObject([failed(0), failed(1)]);
	});

	test('with an error output, each of them is there', async () => {
		rejectAll();
		const run = await runNode(await nodeOf(name, { onError: 'continueErrorOutput' }), TWO);
		expect(output(run, 'Node')).toEqual([]);
		const { json, pairedItem } = failed(0);
		const [first, second] = output(run, 'Node', 1);
		expect(first).toMatchObject({ json, pairedItem });
		expect(Object.keys(first?.json ?? {})).toEqual(['error', 'message', 'details']);
		expect(second).toMatchObject(failed(1));
	});
});

/** Changes by requests to the service. */
const CHANGES = Object.entries(OPERATIONS).flatMap(([name, { sends = '' }]) =>
	sends.includes(' /') && !OWN_OUTPUTS.includes(name) ? [{ name, sends }] : [],
);

const countOf = (endpoint: string) =>
	simulator().requests.filter(({ method, path }) => endpointOf(method, path) === endpoint).length;

describe.each(CHANGES)('$name', ({ name, sends }) => {
	test('is retried only for the item that was rejected', async () => {
		const node = await nodeOf(name);
		const [method = ''] = sends.split(' ');
		const body = { success: false, error: 'not today' };
		simulator().faults.inject({
			...{ kind: 'status', status: 422, body },
			...{ match: { method, path: /./ }, skip: 1, times: 1 },
		});
		const failed = await runNode(node, TWO);
		expect(failed.data.resultData.error?.message).toMatch(/\[row 2\]$/);
		await retryFailed(failed, oneNodeWorkflow(node).workflow);
		expect(countOf(sends)).toBe(3);
	});

	test('is not sent again by a retry after n8n was killed', async () => {
		const node = await nodeOf(name, { onError: 'continueRegularOutput' });
		const { workflow, start } = oneNodeWorkflow(node);
		const begun = await runKilled(workflow, start, [{ json: {} }]);
		const run = await resume(workflow, storedCopy(begun), 'retry');
		expect(countOf(sends)).toBe(1);
		expect(records(run)).toMatchObject([{ details: { outcome: 'unknown' } }]);
	});
});

/** Tools with which a model may do the same twice, as customers say "yes" twice. */
const MAY_REPEAT = new Set([
	...['chatSend › sendMessage', 'injectContext', 'chatSession › create'],
	...['chatSession › legacyCreate', 'chatSession › legacyPause'],
	...['chatSession › watch', 'chatSession › unwatch'],
]);
/** The service itself rejects a second answer. */
const REJECTED_AGAIN: { [name: string]: string } = { 'chatSend › answerInteraction': 'rejected' };

test.each(Object.entries(OPERATIONS))(
	'%s as a tool returns its result, and does not do the same again',
	async (name, { sends, asTool = {}, outcome = 'done' }) => {
		nock(new URL(TRIGGER_URL).origin).post(/./).optionally().times(2).reply(200, { watched: true });
		const tool = engineTool(await nodeOf(name, {}, asTool));
		const first = await tool();
		const second = await tool();
		for (const result of [first, second])
			expect(Object.keys(result)).toEqual(['outcome', 'what_happened', 'next_step', 'result']);
		const isOnce = sends !== undefined && !MAY_REPEAT.has(name);
		const expected = REJECTED_AGAIN[name] ?? (isOnce ? 'already_done' : outcome);
		expect([first.outcome, second.outcome]).toEqual([outcome, expected]);
		if (expected !== 'already_done') return;
		expect(second.what_happened).toMatch(/was not (done|placed) again/);
		if (sends !== undefined && sends !== SOCKET) expect(countOf(sends)).toBe(1);
	},
);
