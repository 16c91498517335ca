/** What n8n gets for each item of a node, with any kind of failure, and if the execution is stopped. */
import get from 'lodash/get';
import type { INode } from 'n8n-workflow';
import {
	output,
	records,
	runNode,
	skipSleeps,
	startNode,
	stoppedResult,
	storedCopy,
} from '../../../engine';
import { eventLoopTurns } from '../../../n8n/until';
import {
	acceptUpTo,
	callsEndpoint,
	CONTINUE,
	faultOf,
	itemsOf,
	people,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from '../../PlaceCall/placeCallHarness';

const harness = placeCallHarness();
const { run, retry } = harness;
beforeEach(() => skipSleeps());

const rejection = (error: string) => ({ success: false, error });
/** Each request gets this response. */
const responds = (status: number, body: string | object) => () =>
	callsEndpoint().times(4).optionally().reply(status, body);
const breaks = (code: string) => () =>
	callsEndpoint()
		.times(4)
		.optionally()
		.replyWithError(Object.assign(new Error(code), { code }));

type Failure = {
	respond?: () => unknown;
	over?: Partial<INode>;
	parameters?: INode['parameters'];
	/** In the item, if On Error is set to continue. */
	details: object;
	/** The error that stops the node. */
	stopped: object;
};

const FAILURES: Array<[string, Failure]> = [
	[
		'a field',
		{
			parameters: { phoneNumber: 'n/a' },
			details: { outcome: 'not_sent' },
			stopped: {
				message: `'Phone Number' "n/a" isn't a phone number [row 1]`,
				description: expect.stringMatching(/^Enter /),
			},
		},
	],
	[
		'a text that n8n would show as HTML',
		{
			respond: responds(422, rejection('<img src=x>')),
			details: { outcome: 'rejected', service_said: '<img src=x>', status: 422 },
			stopped: { description: expect.stringContaining('The service said: ‹img src=x>.') },
		},
	],
	[
		'no response',
		{
			respond: breaks('ECONNRESET'),
			details: { outcome: 'unknown', network_said: 'ECONNRESET' },
			stopped: { name: 'NodeOperationError', message: expect.stringMatching(/\[row 1\]$/) },
		},
	],
	[
		'a response of an unknown sender, with its status',
		{
			respond: responds(502, '<html>'),
			details: { outcome: 'unknown', response_said: 'HTTP status 502', status: 502 },
			stopped: { name: 'NodeApiError', httpCode: '502' },
		},
	],
	[
		'a credential that is missing',
		{
			over: { credentials: {} },
			details: {},
			stopped: { message: expect.stringContaining('credentials') },
		},
	],
];

test.each(FAILURES)('%s: has its details in the item, or stops the node', async (_what, one) => {
	const { respond = () => {}, over = {}, parameters = {}, details, stopped } = one;
	const node = (more: Partial<INode>) =>
		harness.placeCallNode({ ...perItem, ...parameters }, { ...over, ...more });
	respond();
	const [item] = records(await run(node(CONTINUE), people(2)));
	expect(item?.details).toEqual({ item: 0, ...details });
	expect(item?.message).toEqual(expect.stringMatching(/./));
	respond();
	const error = faultOf(await run(node({}), people(2)));
	expect(error).toMatchObject(stopped);
	// n8n adds its own number to a message that names no row.
	const isNamed = error.message.includes('[row 1]');
	expect(get(error.context, 'itemIndex')).toBe(isNamed ? undefined : 0);
});

test('the error is that of the first failed item in input order, with the words of the service for each', async () => {
	callsEndpoint()
		.times(2)
		.reply(async (_uri, body) => {
			const isFirst = phoneOf(body) === phone(0);
			await eventLoopTurns(isFirst ? 20 : 0);
			return isFirst ? [422, rejection('not today')] : [404, rejection('too late')];
		});
	const parameters = { ...perItem, options: { concurrency: 2 } };
	const { message, description } = faultOf(await run(harness.placeCallNode(parameters), people(2)));
	expect(message).toBe('The service rejected the request [row 1]');
	expect(description).toMatch(
		/^.* The service said: not today\. \[row 2\] .* The service said: too late\./,
	);
});

describe('after Stop, items in flight finish and no other starts', () => {
	/** The request of this item stops the execution. */
	async function stopAt(
		index: number,
		{ over = {}, count = 4, concurrency = 1 }: Partial<Ending> = {},
	) {
		const phones: string[] = [];
		callsEndpoint()
			.times(count)
			.optionally()
			.reply((_uri, body) => {
				if (phones.push(phoneOf(body)) === index + 1) execution.cancel();
				return [200, { success: true, data: { call_id: `call-${phoneOf(body)}` } }];
			});
		const parameters = { ...perItem, options: { concurrency } };
		const execution = startNode(harness.placeCallNode(parameters, over), itemsOf(people(count)));
		const { error, data } = await stoppedResult(execution);
		const items = (data?.main?.[0] ?? []).map(({ json }) => json.error ?? json.call_id);
		return { phones, items, error };
	}
	type Ending = { over: Partial<INode>; count: number; concurrency: number };

	test('on Stop with Continue, the other items are reported, because a retry continues with the next node', async () => {
		const { phones, items } = await stopAt(1, { over: CONTINUE });
		expect(phones).toEqual([phone(0), phone(1)]);
		expect(items).toEqual([
			`call-${phone(0)}`,
			expect.stringContaining(phone(1)),
			'The execution was stopped before this item [row 3]',
			'The execution was stopped before this item [row 4]',
		]);
	});

	test('on Stop, the node ends as canceled, so that a retry runs it again', async () => {
		const { phones, error } = await stopAt(1);
		expect(phones).toEqual([phone(0), phone(1)]);
		expect(error?.message).toBe('The execution was canceled');
		expect(error?.description).toMatch(
			/^A time limit of n8n was reached, or someone stopped the execution\. .* Completed in this run: row 1\./,
		);
	});

	test('on Stop also if many items start together', async () => {
		const { phones, items } = await stopAt(0, {
			over: CONTINUE,
			count: 50,
			concurrency: 50,
		});
		expect(phones.length).toBeLessThan(50);
		expect(items).toHaveLength(50);
	});
});

describe('the records of an earlier attempt', () => {
	/** Retries a call that was rejected, after n8n stored these records of other requests. */
	async function retryWith(stored: { [name: string]: object }, over: Partial<INode> = {}) {
		rejectCall();
		const failed = await run(harness.placeCallNode(perItem), people(1));
		const node = harness.placeCallNode(perItem, over);
		const data = storedCopy(failed.data);
		const context = data.executionData?.contextData['node:Node'];
		Reflect.set(context ?? {}, 'voiceChatAgent', stored);
		const bodies = acceptUpTo(1);
		return { again: await retry({ ...failed, data }, node), bodies };
	}

	test.each<[{ [name: string]: object }]>([[{ sent: { a: null } }], [{ sent: { a: 'sent' } }]])(
		'%j is damaged, so nothing is sent',
		async (stored) => {
			const { again, bodies } = await retryWith(stored);
			expect(faultOf(again)).toMatchObject({
				message:
					"The record of an earlier attempt of this execution can't be read, so nothing was sent in this attempt",
				description: expect.stringContaining('start a new execution'),
			});
			expect(bodies).toEqual([]);
		},
	);

	test('are damaged, which fails each item with Continue', async () => {
		const { again, bodies } = await retryWith({ sent: { a: null } }, CONTINUE);
		expect(output(again, 'Node')).toMatchObject([
			{
				json: { error: expect.stringContaining("can't be read"), details: { outcome: 'unknown' } },
			},
		]);
		expect(bodies).toEqual([]);
	});

	test('belong to other requests', async () => {
		const unknown = { message: 'It broke' };
		const sent = { a: { id: '0#0', done: [] }, b: { id: '0#0', unknown } };
		const { again, bodies } = await retryWith({ sent });
		expect(records(again)).toMatchObject([{ placed: true }]);
		expect(bodies).toHaveLength(1);
	});
});

test.each(['dnd', 'getCall', 'chatSession', 'agents'])(
	'%s: an unknown operation of an imported workflow is reported, and nothing is sent',
	async (type) => {
		const node = harness.node(type, { parameters: { operation: 'drop' } });
		const { message } = faultOf(await runNode(node, [{ json: {} }]));
		expect(message).toBe("Choose 'Operation' from the list");
	},
);

test('with Continue, a setting of the whole execution that cannot be used fails each item', async () => {
	const options = { concurrency: '={{ "many" }}' };
	const node = harness.placeCallNode({ ...perItem, options }, CONTINUE);
	expect(output(await run(node, people(2)), 'Node')).toMatchObject(
		[0, 1].map((item) => ({
			json: {
				error: expect.stringContaining("'Concurrency'"),
				details: { item, outcome: 'not_sent' },
			},
			pairedItem: { item },
		})),
	);
});

test('Retry On Fail, with which n8n runs the node again for an empty error of the first row, calls once', async () => {
	const bodies = acceptUpTo(2);
	const node = harness.placeCallNode(perItem, { retryOnFail: true, waitBetweenTries: 1 });
	const row = { phone: phone(0), error: '', placed: '' };
	expect(records(await run(node, [row]))).toMatchObject([{ placed: true, error: '' }]);
	expect(bodies).toHaveLength(1);
});

test('Retry On Fail then calls the people whose call was rejected, and nobody else', async () => {
	const over: Partial<INode> = { ...CONTINUE, retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
	const node = harness.placeCallNode(perItem, over);
	const called: string[] = [];
	callsEndpoint()
		.times(3)
		.reply((_uri, body) => {
			const isFirst = called.push(phoneOf(body)) === 2;
			return isFirst ? [422, rejection('not today')] : [200, { data: { call_id: 'a' } }];
		});
	const rows = [0, 1].map((nth) => ({ phone: phone(nth), error: '', placed: '' }));
	expect(records(await run(node, rows))).toMatchObject([{ placed: true }, { placed: true }]);
	expect(called).toEqual([phone(0), phone(1), phone(1)]);
});
