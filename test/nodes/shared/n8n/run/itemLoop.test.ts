import type { ExecuteContext } from 'n8n-core';
import { type INode, NodeApiError, NodeOperationError } from 'n8n-workflow';
import { openRecord } from '../../../../../nodes/shared/n8n/once/executionStore';
import { asItems, forEachItem } from '../../../../../nodes/shared/n8n/run/itemLoop';
import { sendEachItem } from '../../../../../nodes/shared/n8n/run/sendLoop';
import {
	InvalidInput,
	OutcomeUnknown,
	ServiceRejection,
} from '../../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../../nodes/shared/api/resolution';
import { ChatEnded } from '../../../../../nodes/shared/chat/reconnectPolicy';
import { deferred } from '../../../../../nodes/shared/clock';
import { isJsonObject, type JsonObject } from '../../../../../nodes/shared/json';
import { executeContext, makeNode, setupEngine } from '../../../../engine';
import { eventLoopTurns } from '../../../../n8n/until';

beforeAll(setupEngine);

function contextOf(
	count: number,
	overrides: Partial<INode> = {},
	signal?: AbortSignal,
): ExecuteContext {
	const items = Array.from({ length: count }, (_, index) => ({ json: { index } }));
	return executeContext(makeNode({ type: 'test.sink', ...overrides }), items, { signal });
}

const GO_ON: Partial<INode> = { onError: 'continueRegularOutput' };
const record = async (index: number) => await Promise.resolve(asItems({ index }));
const rejected = new InvalidInput('Rejected', forEveryone('Correct it.'));
const stopText = (completed: number[]) => `Completed: ${completed.join()}.`;

test('starts only some items before it yields to other work', async () => {
	const events: Array<number | 'other work'> = [];
	const tick = setInterval(() => events.push('other work'), 0);
	const allEnd = deferred<null>();
	const task = async (index: number) => {
		events.push(index);
		if (index === 49) allEnd.resolve(null);
		// The first one ends immediately, so one more starts.
		if (index > 0) await allEnd.promise;
		return asItems({ index });
	};
	await forEachItem(contextOf(100), task, { concurrency: 50 });
	clearInterval(tick);
	const begun = events.filter((event) => event !== 'other work');
	expect(begun).toEqual([...Array(100).keys()]);
	const inOneGo = events.join(' ').split('other work');
	const max = Math.max(...inOneGo.map((indexes) => indexes.trim().split(/\s+/).length));
	expect(max).toBe(10);
});

test('on Stop, no other item of a burst starts', async () => {
	const controller = new AbortController();
	const begun: number[] = [];
	const task = async (index: number) => {
		begun.push(index);
		if (index === 9) controller.abort();
		return await record(index);
	};
	const context = contextOf(50, GO_ON, controller.signal);
	await forEachItem(context, task, { concurrency: 50 });
	expect(begun).toEqual([...Array(10).keys()]);
});

describe('on Stop, items in flight finish and no other starts', () => {
	async function stopAtSecond(overrides: Parameters<typeof contextOf>[1]) {
		const controller = new AbortController();
		const begun: number[] = [];
		const task = async (index: number) => {
			begun.push(index);
			if (index === 1) controller.abort();
			return await record(index);
		};
		const run = forEachItem(contextOf(4, overrides, controller.signal), task, {
			stopText,
		});
		const output = await run.finally(() => {
			expect(begun).toEqual([0, 1]);
		});
		return output.map(({ json }) => json.error ?? json.index);
	}

	test('with Continue, the other items are reported, because a retry continues with the next node', async () => {
		expect(await stopAtSecond(GO_ON)).toEqual([
			0,
			1,
			'The execution was stopped before this item [row 3]',
			'The execution was stopped before this item [row 4]',
		]);
	});

	test('otherwise, the node ends as canceled, so that a retry runs it again', async () => {
		await expect(stopAtSecond({})).rejects.toMatchObject({
			message: 'The execution was canceled',
			description:
				'A time limit of n8n was reached, or someone stopped the execution. The execution was stopped before this item [row 3]. Nothing was sent for this item. Run it in a new execution. Completed: 0,1.',
		});
	});
});

test('the error is that of the first failed item in input order, with the words of the service for each', async () => {
	const refused = new InvalidInput('Refused', forEveryone('Ask it.'), {
		originalMessage: 'too late',
	});
	const task = async (index: number) => {
		await eventLoopTurns(index === 0 ? 20 : 0);
		throw index === 0 ? rejected : refused;
	};
	await expect(forEachItem(contextOf(2), task, { concurrency: 2 })).rejects.toMatchObject({
		message: 'Rejected [row 1]',
		description: 'Correct it. [row 2] Refused. Ask it. The service said: too late.',
	});
});

test('an error without a description gets none', async () => {
	const task = async () => await Promise.reject(new TypeError('x is undefined'));
	const error: unknown = await forEachItem(contextOf(2), task).catch((caught: unknown) => caught);
	expect(error).toMatchObject({ message: 'x is undefined' });
	expect(error).not.toHaveProperty('description', '');
});

describe('an error', () => {
	const failing = (error: unknown) => async () => {
		await Promise.resolve();
		throw error;
	};
	const rejection = (message: string, said: string) =>
		new ServiceRejection({ message, resolution: forEveryone('Mend it.') }, said, 422, {
			texts: [said],
			body: {},
		});
	const closed = { message: 'No token', resolution: forEveryone('Look.') };

	test.each<[string, unknown, details: object, stopped: object]>([
		[
			'a field',
			rejected,
			{ outcome: 'not_sent' },
			{ message: 'Rejected [row 1]', description: expect.stringMatching(/^Correct it\./) },
		],
		[
			'a rejection, with its status',
			rejection('Rejected', 'no such call'),
			{ outcome: 'rejected', service_said: 'no such call', status: 422 },
			{ message: 'Rejected [row 1]', httpCode: '422' },
		],
		[
			'what n8n would show as HTML',
			rejection('No <b>', '<img src=x>'),
			{ outcome: 'rejected', service_said: '<img src=x>', status: 422 },
			{
				message: 'No ‹b> [row 1]',
				description: expect.stringContaining('Mend it. The service said: ‹img src=x>.'),
			},
		],
		[
			'no response',
			new OutcomeUnknown('It broke', forEveryone('Look.'), { originalMessage: 'ECONNRESET' }),
			{ outcome: 'unknown', network_said: 'ECONNRESET' },
			{ message: 'It broke [row 1]' },
		],
		[
			'a response of an unknown sender, with its status',
			new OutcomeUnknown('It broke', forEveryone('Look.'), {
				originalMessage: '<html>',
				status: 502,
				origin: 'response',
			}),
			{ outcome: 'unknown', response_said: '<html>', status: 502 },
			{ message: 'It broke [row 1]', httpCode: '502' },
		],
		[
			'the end of a chat session',
			new ChatEnded('no_token', closed),
			{ outcome: 'not_sent' },
			{ name: 'NodeOperationError', message: 'No token [row 1]' },
		],
		['a defect', new TypeError('x is undefined'), {}, { message: 'x is undefined' }],
		['a word', 'odd', {}, { message: 'odd' }],
	])(
		'%s: has its details in the item, or stops the node',
		async (_what, error, details, stopped) => {
			const [item] = await forEachItem(contextOf(2, GO_ON), failing(error));
			expect(item?.json.details).toStrictEqual({ item: 0, ...details });
			await expect(forEachItem(contextOf(2), failing(error))).rejects.toMatchObject({
				...stopped,
				context: { itemIndex: 0 },
			});
		},
	);

	const node = makeNode({ type: 'test.sink' });

	test.each([
		["n8n's error", new NodeOperationError(node, 'It broke', { description: 'Look.' }), 'Look.'],
		[
			'an error of a library',
			Object.assign(new Error('It broke'), { description: 'E_BROKEN' }),
			'It broke',
		],
	])('%s with a description', async (_whose, error, message) => {
		const [item] = await forEachItem(contextOf(1, GO_ON), failing(error));
		expect(item?.json.message).toBe(message);
	});

	test.each([
		new NodeOperationError(node, 'It broke'),
		new NodeApiError(node, { httpCode: '500' }, { message: 'It broke' }),
	])("%s: n8n's own error stays the same, and gets its item", async (error) => {
		await expect(forEachItem(contextOf(1), failing(error))).rejects.toBe(error);
		expect(error.context.itemIndex).toBe(0);
	});
});

describe('the records of an earlier attempt', () => {
	const sent = jest.fn(async () => await Promise.resolve(asItems({ done: true })));
	/** A run of a node with these stored records. */
	const runWith = async (records: JsonObject) => {
		const context = contextOf(1);
		openRecord(context, 'requests', isJsonObject, records);
		sent.mockClear();
		const prepare = () => ({ payload: 'x', target: 'x', happened: () => '', send: sent });
		return await sendEachItem(context, prepare, {
			createDeps: async () => await Promise.resolve(),
		});
	};

	test.each<JsonObject>([{ a: null }, { a: 'sent' }])(
		'%j is damaged, so nothing is sent',
		async (records) => {
			const error: unknown = await runWith(records).catch((caught: unknown) => caught);
			expect(error).toBeInstanceOf(InvalidInput);
			expect(error).toMatchObject({
				message:
					"The record of an earlier attempt of this execution can't be read, so nothing was sent",
				resolution: expect.stringContaining('start a new execution'),
				outcome: 'not_sent',
			});
			expect(sent).not.toHaveBeenCalled();
		},
	);

	test.each<JsonObject>([
		{},
		{ a: { completed: [] } },
		{ a: { completed: [{}], item: 1 } },
		{ a: { unknown: { message: 'It broke', resolution: forEveryone('Look.') } } },
	])('%j belongs to another request', async (records) => {
		expect(await runWith(records)).toMatchObject([{ json: { done: true } }]);
		expect(sent).toHaveBeenCalledTimes(1);
	});
});
