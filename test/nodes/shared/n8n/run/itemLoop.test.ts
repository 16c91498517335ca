import type { ExecuteContext } from 'n8n-core';
import { createRunExecutionData, NodeOperationError, sleep, type INode } from 'n8n-workflow';
import { ExecutionStore } from '../../../../../nodes/shared/n8n/idempotency/executionStore';
import { asItems, forEachItem, sendEachItem } from '../../../../../nodes/shared/n8n/run/itemLoop';
import {
	InvalidInput,
	OutcomeUnknown,
	ServiceRejection,
} from '../../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../../nodes/shared/api/modelAdvice';
import { deferred } from '../../../../../nodes/shared/clock';
import { isJsonObject, type JsonObject } from '../../../../../nodes/shared/json';
import { executeContext, makeNode, PACKAGE, setupEngine } from '../../../../engine';

beforeAll(setupEngine);

function contextOf(count: number, over: Partial<INode> = {}, signal?: AbortSignal): ExecuteContext {
	const items = Array.from({ length: count }, (_, index) => ({ json: { index } }));
	return executeContext(makeNode({ type: 'test.sink', ...over }), items, { signal });
}

const GO_ON: Partial<INode> = { onError: 'continueRegularOutput' };
const record = async (index: number) => await Promise.resolve(asItems({ index }));
const rejected = new InvalidInput('Rejected', forEveryone('Correct it.'));
const completedText = { singular: 'row was read', plural: 'rows were read' };

test.each([1, 3, 50])('%i at once, and put out in the order of the input', async (concurrency) => {
	let underWay = 0;
	let most = 0;
	const task = async (index: number) => {
		most = Math.max(most, ++underWay);
		await sleep(10 - index);
		underWay -= 1;
		return asItems([{ index }, { index }]);
	};
	const done = await forEachItem(contextOf(9), task, { concurrency });
	expect(done.map(({ json }) => json.index)).toEqual([
		0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8,
	]);
	expect(done[4]).toEqual({ json: { index: 2 }, pairedItem: { item: 2 } });
	expect(most).toBe(Math.min(concurrency, 9));
});

test('of many at once only some begin, or begin when others end, before other work goes on', async () => {
	const events: Array<number | 'other work'> = [];
	const tick = setInterval(() => events.push('other work'), 0);
	const allEnd = deferred<null>();
	const task = async (index: number) => {
		events.push(index);
		if (index === 49) allEnd.resolve(null);
		// The first is done at once, and makes room for one more.
		if (index > 0) await allEnd.promise;
		return asItems({ index });
	};
	await forEachItem(contextOf(100), task, { concurrency: 50 });
	clearInterval(tick);
	const begun = events.filter((event) => event !== 'other work');
	expect(begun).toEqual([...Array(100).keys()]);
	const inOneGo = events.join(' ').split('other work');
	const most = Math.max(...inOneGo.map((indexes) => indexes.trim().split(/\s+/).length));
	expect(most).toBe(10);
});

test('on Stop no other item of a burst begins', async () => {
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

describe('on Stop what is in progress ends and no other item begins', () => {
	async function stopAtSecond(over: Parameters<typeof contextOf>[1]) {
		const controller = new AbortController();
		const begun: number[] = [];
		const task = async (index: number) => {
			begun.push(index);
			if (index === 1) controller.abort();
			return await record(index);
		};
		const run = forEachItem(contextOf(4, over, controller.signal), task, {
			completedText: completedText,
		});
		const output = await run.finally(() => {
			expect(begun).toEqual([0, 1]);
		});
		return output.map(({ json }) => json.error ?? json.index);
	}

	test('with Continue the others are told, because a retry goes on with the next node', async () => {
		expect(await stopAtSecond(GO_ON)).toEqual([
			0,
			1,
			'The execution was stopped before this item [item 2]',
			'The execution was stopped before this item [item 3]',
		]);
	});

	test('otherwise the node ends as canceled, so that a retry runs it again', async () => {
		await expect(stopAtSecond({})).rejects.toMatchObject({
			message: 'The execution was canceled',
			description:
				'The execution was stopped before this item [item 2]. Nothing was sent for it. Run it again. 2 rows were read in this run (items 0–1). Retry of this execution leaves them out; in a new execution leave them out yourself.',
		});
	});
});

test('a failure lets no other item begin, and says what was done before', async () => {
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
			'Correct it. 2 rows were read in this run (items 0–1). Retry of this execution leaves them out; in a new execution leave them out yourself.',
		context: { itemIndex: 2 },
	});
	expect(begun).toEqual([0, 1, 2]);
});

test('of several that fail the first of the input is told first, whichever failed first', async () => {
	const task = async (index: number) => {
		await sleep(index === 0 ? 20 : 0);
		throw rejected;
	};
	await expect(forEachItem(contextOf(2), task, { concurrency: 2 })).rejects.toMatchObject({
		message: 'Rejected [item 0]',
		description: 'Correct it. [item 1] Rejected. Correct it.',
	});
});

test('nothing is said of what was done where nothing was', async () => {
	const task = async () => await Promise.reject(rejected);
	await expect(
		forEachItem(contextOf(1), task, { completedText: completedText }),
	).rejects.toMatchObject({
		message: 'Rejected',
		description: 'Correct it.',
	});
});

test('what has no advice of its own is given none', async () => {
	const task = async () => await Promise.reject(new TypeError('x is undefined'));
	const error: unknown = await forEachItem(contextOf(2), task).catch((caught: unknown) => caught);
	expect(error).toMatchObject({ message: 'x is undefined' });
	expect(error).not.toHaveProperty('description', '');
});

test('with Continue the others go on, and the item says what went wrong', async () => {
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

	test('comes before the first is done, and names each that does not pass', async () => {
		const task = jest.fn(record);
		await expect(forEachItem(contextOf(4), task, { check })).rejects.toMatchObject({
			message: 'Rejected [item 1]',
			description:
				'Correct it. [item 3] Rejected. Correct it. Nothing was sent: all items are checked before the first.',
		});
		expect(task).not.toHaveBeenCalled();
	});

	test('spells out nine others and counts the rest', async () => {
		const failing = () => {
			throw rejected;
		};
		const stopped = async (count: number) =>
			await forEachItem(contextOf(count), record, { check: failing }).catch((error: unknown) =>
				error instanceof Error && 'description' in error ? String(error.description) : '',
			);
		expect(await stopped(10)).not.toContain('more items');
		expect(await stopped(12)).toMatch(/\[item 9\] Rejected\. Correct it\. And 2 more items\./);
	});

	test('is left out with Continue, where each item has its own fate', async () => {
		const task = jest.fn(record);
		await forEachItem(contextOf(4, GO_ON), task, { check });
		expect(task).toHaveBeenCalledTimes(4);
	});
});

describe('the item of an error says what is known of it', () => {
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
			'no answer',
			new OutcomeUnknown('It broke', forEveryone('Look.'), 'ECONNRESET'),
			{ item: 0, outcome: 'unknown', network_said: 'ECONNRESET' },
		],
		[
			'an answer of who knows whom',
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

describe('what an earlier try left behind', () => {
	const sent = jest.fn(async () => await Promise.resolve(asItems({ done: true })));
	/** The run of a node, in whose place this is kept as what it sent before. */
	const runWith = async (kept: JsonObject) => {
		const context = contextOf(1);
		new ExecutionStore<JsonObject>(context, 'sent', isJsonObject).write(kept);
		sent.mockClear();
		const prepare = () => ({ payload: 'x', send: sent });
		return await sendEachItem(context, prepare, {
			createDeps: async () => await Promise.resolve(),
		});
	};

	test.each<JsonObject>([
		{ a: null },
		{ a: 'sent' },
		{ a: {} },
		{ a: { sent: 'yes' } },
		{ a: { done: [{}, 1] } },
		{ a: { unknown: { message: 'It broke' } } },
		{ a: { unknown: { resolution: 'Look.' } } },
		{ a: { sent: true, row: 1 } },
	])('%j cannot be read, so nothing is sent', async (kept) => {
		const error: unknown = await runWith(kept).catch((caught: unknown) => caught);
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error).toMatchObject({
			message:
				'What this node did in an earlier try of this execution cannot be read, so nothing was sent',
			description: expect.stringContaining('start a new execution'),
		});
		expect(sent).not.toHaveBeenCalled();
	});

	test.each<JsonObject>([
		{},
		{ a: { sent: true } },
		{ a: { done: [] } },
		{ a: { done: [{}], row: 'b/0' } },
		{ a: { unknown: { message: 'It broke', resolution: 'Look.' } } },
	])('%j is of another request', async (kept) => {
		expect(await runWith(kept)).toMatchObject([{ json: { done: true } }]);
		expect(sent).toHaveBeenCalledTimes(1);
	});
});

describe('rows that are sent again in the same execution', () => {
	type Row = { request: string; person?: string };
	/** One try of a node with these rows: what it sent, and what it ended with. */
	const tries = () => {
		const data = createRunExecutionData({ executionData: {} });
		return async (rows: Row[], phoneNumber = 'none', fails?: Error | 'never answered') => {
			const node = makeNode({ type: `${PACKAGE}.placeCall`, parameters: { phoneNumber } });
			const items = rows.map(() => ({ json: {} }));
			const context = executeContext(node, items, { data });
			const sent: number[] = [];
			const prepare = (index: number) => ({
				payload: rows[index]?.request,
				person: rows[index]?.person,
				send: async () => {
					sent.push(index);
					if (fails === 'never answered') await new Promise(() => {});
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

	test('a row whose expressions give another request by then is known by its place', async () => {
		const attempt = tries();
		await attempt([{ request: 'at 10:00' }]);
		expect(await attempt([{ request: 'at 10:01' }])).toEqual({ sent: [], ended: [0] });
	});

	test('so is one whose fate is not known', async () => {
		const attempt = tries();
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

	test('nor is one that was interrupted before its answer came', async () => {
		const attempt = tries();
		void attempt([{ request: 'x' }], 'none', 'never answered');
		await sleep(0);
		expect(await attempt([{ request: 'x' }])).toEqual({
			sent: [],
			ended:
				'An earlier try sent this and was interrupted before the answer came, so it is not known whether the request took effect. It was not sent a second time. Look in the service whether it arrived before you send it in a new execution.',
		});
	});

	test('after an edit one that was done for its person is known, and each of the others is sent', async () => {
		const attempt = tries();
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

	test('after an edit one of another person at its place is sent', async () => {
		const attempt = tries();
		await attempt([{ request: 'x', person: 'A' }]);
		expect(await attempt([{ request: 'y', person: 'B' }], 'edited')).toEqual({
			sent: [0],
			ended: [0],
		});
	});

	test('what never left may go again', async () => {
		const attempt = tries();
		await attempt([{ request: 'x' }], 'none', rejected);
		expect(await attempt([{ request: 'x' }])).toEqual({ sent: [0], ended: [0] });
	});
});
