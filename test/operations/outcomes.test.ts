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
import { OPERATIONS, operationNamed, TRIGGER_URL, useOf } from './operations';

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

	test('a retry after n8n was killed sends it again only if twice does no harm', async () => {
		const node = await nodeOf(name, { onError: 'continueRegularOutput' });
		const { workflow, start } = oneNodeWorkflow(node);
		const begun = await runKilled(workflow, start, [{ json: {} }]);
		const run = await resume(workflow, storedCopy(begun), 'retry');
		const isAgain = operationNamed(name).isHarmlessTwice === true;
		expect(countOf(sends)).toBe(isAgain ? 2 : 1);
		if (!isAgain) expect(records(run)).toMatchObject([{ details: { outcome: 'unknown' } }]);
	});
});

/** What a model gets for the same request again, if it isn't done again as customers say "yes" twice. */
const AGAIN: { [name: string]: string } = {
	'placeCall › place': 'already_done',
	'placeCall › askAndWait': 'already_done',
	// None of its contacts.
	pushCampaignContacts: 'not_sent',
	// By the service itself.
	'chatSend › answerInteraction': 'rejected',
	'chatSession › close': 'rejected',
	'chatSession › supportCommand': 'rejected',
	'dnd › remove': 'rejected',
};

test.each(Object.entries(OPERATIONS))(
	'%s as a tool returns its result, and calls and pushes nobody twice',
	async (name, { sends = '', asTool = {}, outcome = 'done' }) => {
		nock(new URL(TRIGGER_URL).origin).post(/./).optionally().times(2).reply(200, { watched: true });
		const tool = engineTool(await nodeOf(name, {}, asTool));
		const first = await tool();
		const second = await tool();
		for (const result of [first, second])
			expect(Object.keys(result)).toEqual(['outcome', 'what_happened', 'next_step', 'result']);
		const again = AGAIN[name] ?? outcome;
		expect([first.outcome, second.outcome]).toEqual([outcome, again]);
		if (again === 'already_done')
			expect(second.what_happened).toMatch(/was not (done|placed) again/);
		if (name in AGAIN && again !== 'rejected') expect(countOf(sends)).toBe(1);
	},
);
