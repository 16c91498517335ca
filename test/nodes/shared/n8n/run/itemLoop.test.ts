import type { ExecuteContext } from 'n8n-core';
import { createRunExecutionData, NodeOperationError, type INode } from 'n8n-workflow';
import { ExecutionStore } from '../../../../../nodes/shared/n8n/once/executionStore';
import { asItems, forEachItem } from '../../../../../nodes/shared/n8n/run/itemLoop';
import { sendEachItem } from '../../../../../nodes/shared/n8n/run/sendLoop';
import {
	InvalidInput,
	OutcomeUnknown,
	ServiceRejection,
} from '../../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../../nodes/shared/api/resolution';
import { deferred } from '../../../../../nodes/shared/clock';
import { isJsonObject, type JsonObject } from '../../../../../nodes/shared/json';
import { executeContext, makeNode, PACKAGE, setupEngine } from '../../../../engine';
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
const completedText = { singular: 'row was read', plural: 'rows were read' };

test.each([1, 3, 50])(
	'with concurrency %i, the output keeps the order of the input',
	async (concurrency) => {
		let inFlight = 0;
		let max = 0;
		const task = async (index: number) => {
			max = Math.max(max, ++inFlight);
			// The first ends last.
			await eventLoopTurns(10 * (9 - index));
			inFlight -= 1;
			return asItems([{ index }, { index }]);
		};
		const done = await forEachItem(contextOf(9), task, { concurrency });
		expect(done.map(({ json }) => json.index)).toEqual([
			0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8,
		]);
		expect(done[4]).toEqual({ json: { index: 2 }, pairedItem: { item: 2 } });
		expect(max).toBe(Math.min(concurrency, 9));
	},
);

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
			completedText: completedText,
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
			'The execution was stopped before this item [item 2]',
			'The execution was stopped before this item [item 3]',
		]);
	});

	test('otherwise, the node ends as canceled, so that a retry runs it again', async () => {
		await expect(stopAtSecond({})).rejects.toMatchObject({
			message: 'The execution was canceled',
			description:
				'A time limit of n8n was reached, or someone stopped the execution. The execution was stopped before this item [item 2]. Nothing was sent for this item. Run it in a new execution. 2 rows were read in this run (items 0–1). In a new execution, leave them out.',
		});
	});
});

test('after a failure, no other item starts, and the error lists the completed items', async () => {
	const begun: number[] = [];
	const task = async (index: number) => {
		begun.push(index);
		if (index === 2) throw rejected;
		return await record(index);
	};
	await expect(
		forEachItem(contextOf(5), task, { completedText: completedText }),
	).rejects.toMatchObject({
		message: 'Rejected [item 2]',
		description:
			'Correct it. 2 rows were read in this run (items 0–1). A retry of this execution skips them. In a new execution, leave them out.',
		context: { itemIndex: 2 },
	});
	expect(begun).toEqual([0, 1, 2]);
});

test('the error is that of the first failed item in input order', async () => {
	const task = async (index: number) => {
		await eventLoopTurns(index === 0 ? 20 : 0);
		throw rejected;
	};
	await expect(forEachItem(contextOf(2), task, { concurrency: 2 })).rejects.toMatchObject({
		message: 'Rejected [item 0]',
		description: 'Correct it. [item 1] Rejected. Correct it.',
	});
});

test('the error does not mention completed items if there are none', async () => {
	const task = async () => await Promise.reject(rejected);
	await expect(
		forEachItem(contextOf(1), task, { completedText: completedText }),
	).rejects.toMatchObject({
		message: 'Rejected',
		description: 'Correct it.',
	});
});

test('an error without a description gets none', async () => {
	const task = async () => await Promise.reject(new TypeError('x is undefined'));
	const error: unknown = await forEachItem(contextOf(2), task).catch((caught: unknown) => caught);
	expect(error).toMatchObject({ message: 'x is undefined' });
	expect(error).not.toHaveProperty('description', '');
});

test('with Continue, the other items are processed, and the failed one has its error', async () => {
	const task = async (index: number) => {
		if (index === 1) throw rejected;
		return await record(index);
	};
	const done = await forEachItem(contextOf(3, GO_ON), task);
	expect(done.map(({ json }) => json)).toEqual([
		{ index: 0 },
		{
			error: 'Rejected [item 1]',
			message: 'Correct it.',
			details: { item: 1, outcome: 'not_sent' },
		},
		{ index: 2 },
	]);
});

describe('the check of all items', () => {
	const check = (index: number) => {
		if (index % 2 === 1) throw rejected;
	};

	test('runs before the first one is sent, and lists each invalid item', async () => {
		const task = jest.fn(record);
		await expect(forEachItem(contextOf(4), task, { check })).rejects.toMatchObject({
			message: 'Rejected [item 1]',
			description:
				'Correct it. [item 3] Rejected. Correct it. Nothing was sent, because all items are checked before the first one is sent.',
		});
		expect(task).not.toHaveBeenCalled();
	});

	test('lists nine others and counts the rest', async () => {
		const failing = () => {
			throw rejected;
		};
		const stopped = async (count: number) =>
			await forEachItem(contextOf(count), record, { check: failing }).catch((error: unknown) =>
				error instanceof Error && 'description' in error ? String(error.description) : '',
			);
		expect(await stopped(10)).not.toContain('more items');
		expect(await stopped(12)).toMatch(
			/\[item 9\] Rejected\. Correct it\. And 2 more items \(10–11\)\./,
		);
	});

	test('is skipped with Continue', async () => {
		const task = jest.fn(record);
		await forEachItem(contextOf(4, GO_ON), task, { check });
		expect(task).toHaveBeenCalledTimes(4);
	});
});

describe('the item of an error has its details', () => {
	const rejection = (error: string, status: number) =>
		new ServiceRejection('Rejected', forEveryone('Correct it.'), error, status, {
			texts: [error],
			body: {},
		});

	test.each<[string, Error, object]>([
		[
			'a rejection',
			rejection('no such call', 404),
			{ item: 0, outcome: 'rejected', service_said: 'no such call', status: 404 },
		],
		[
			'no response',
			new OutcomeUnknown('It broke', forEveryone('Look.'), 'ECONNRESET'),
			{ item: 0, outcome: 'unknown', network_said: 'ECONNRESET' },
		],
		[
			'a response of an unknown sender',
			new OutcomeUnknown('It broke', forEveryone('Look.'), '<html>', 502, 'response'),
			{ item: 0, outcome: 'unknown', response_said: '<html>', status: 502 },
		],
		['a field', rejected, { item: 0, outcome: 'not_sent' }],
		['a defect', new TypeError('x is undefined'), { item: 0 }],
	])('%s', async (_what, error, details) => {
		const [item] = await forEachItem(contextOf(1, GO_ON), async () => await Promise.reject(error));
		expect(item?.json.details).toStrictEqual(details);
	});
});

describe('the records of an earlier attempt', () => {
	const sent = jest.fn(async () => await Promise.resolve(asItems({ done: true })));
	/** A run of a node with these stored records. */
	const runWith = async (records: JsonObject) => {
		const context = contextOf(1);
		new ExecutionStore<JsonObject>(context, 'requests', isJsonObject).write(records);
		sent.mockClear();
		const prepare = () => ({ payload: 'x', target: 'x', send: sent });
		return await sendEachItem(context, prepare, {
			createDeps: async () => await Promise.resolve(),
		});
	};

	test.each<JsonObject>([
		{ a: null },
		{ a: 'sent' },
		{ a: {} },
		{ a: { inProgress: 'yes' } },
		{ a: { completed: [{}, 1] } },
		{ a: { unknown: { message: 'It broke' } } },
		{ a: { unknown: { resolution: 'Look.' } } },
		{ a: { inProgress: true, item: '1' } },
	])('%j is damaged, so nothing is sent', async (records) => {
		const error: unknown = await runWith(records).catch((caught: unknown) => caught);
		expect(error).toBeInstanceOf(InvalidInput);
		expect(error).toMatchObject({
			message:
				"The record of an earlier attempt of this execution can't be read, so nothing was sent",
			resolution: expect.stringContaining('start a new execution'),
			outcome: 'not_sent',
		});
		expect(sent).not.toHaveBeenCalled();
	});

	test.each<JsonObject>([
		{},
		{ a: { inProgress: true } },
		{ a: { completed: [] } },
		{ a: { completed: [{}], item: 1 } },
		{ a: { unknown: { message: 'It broke', resolution: 'Look.' } } },
	])('%j belongs to another request', async (records) => {
		expect(await runWith(records)).toMatchObject([{ json: { done: true } }]);
		expect(sent).toHaveBeenCalledTimes(1);
	});
});

describe('rows that run again in the same execution', () => {
	type Row = { request: string; person?: string };
	/** One attempt of a node with these rows: the sent requests, and the error. */
	const newNode = () => {
		const data = createRunExecutionData({ executionData: {} });
		return async (rows: Row[], phoneNumber = 'none', fails?: Error | 'no response') => {
			const node = makeNode({ type: `${PACKAGE}.placeCall`, parameters: { phoneNumber } });
			const items = rows.map(() => ({ json: {} }));
			const context = executeContext(node, items, { data });
			const sent: number[] = [];
			const prepare = (index: number) => ({
				payload: rows[index]?.request,
				target: rows[index]?.person ?? 'anyone',
				send: async () => {
					sent.push(index);
					if (fails === 'no response') await new Promise(() => {});
					if (fails instanceof Error) throw fails;
					return await record(index);
				},
			});
			const createDeps = async () => await Promise.resolve();
			const ended = await sendEachItem(context, prepare, { createDeps }).then(
				(done) => done.map(({ json }) => json.index),
				(error: unknown) =>
					error instanceof NodeOperationError ? `${error.message}. ${error.description}` : error,
			);
			return { sent, ended };
		};
	};

	test('a row whose expressions return other values is recognized by its index', async () => {
		const attempt = newNode();
		await attempt([{ request: 'at 10:00' }]);
		expect(await attempt([{ request: 'at 10:01' }])).toEqual({ sent: [], ended: [0] });
	});

	test('so is a row with unknown outcome', async () => {
		const attempt = newNode();
		await attempt(
			[{ request: 'at 10:00' }],
			'none',
			new OutcomeUnknown('It broke', forEveryone('Look.')),
		);
		expect(await attempt([{ request: 'at 10:01' }])).toEqual({
			sent: [],
			ended: 'It broke. Look.',
		});
	});

	test('a row that was interrupted before its response arrived is not sent again', async () => {
		const attempt = newNode();
		void attempt([{ request: 'x' }], 'none', 'no response');
		await eventLoopTurns(1);
		expect(await attempt([{ request: 'x' }])).toEqual({
			sent: [],
			ended:
				"An earlier attempt sent this and was interrupted before the response arrived, so the outcome is unknown. It wasn't sent again. Check the service before you send it in a new execution.",
		});
	});

	test('after an edit, a row completed for its person is recognized, and the others are sent', async () => {
		const attempt = newNode();
		await attempt([{ request: 'x', person: 'A' }]);
		const edited = [
			{ request: 'y', person: 'A' },
			{ request: 'x', person: 'B' },
			{ request: 'x', person: 'C' },
			{ request: 'x', person: 'D' },
		];
		expect(await attempt(edited, 'edited')).toEqual({ sent: [1, 2, 3], ended: [0, 1, 2, 3] });
		expect(await attempt(edited, 'edited')).toEqual({ sent: [], ended: [0, 1, 2, 3] });
	});

	test('after an edit, a row with another person at the same index is sent', async () => {
		const attempt = newNode();
		await attempt([{ request: 'x', person: 'A' }]);
		expect(await attempt([{ request: 'y', person: 'B' }], 'edited')).toEqual({
			sent: [0],
			ended: [0],
		});
	});

	test('a request that was never sent may be sent again', async () => {
		const attempt = newNode();
		await attempt([{ request: 'x' }], 'none', rejected);
		expect(await attempt([{ request: 'x' }])).toEqual({ sent: [0], ended: [0] });
	});
});
