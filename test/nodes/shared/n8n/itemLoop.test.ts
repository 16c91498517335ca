import { ExecuteContext } from 'n8n-core';
import { createEmptyRunExecutionData, sleep, type INode } from 'n8n-workflow';
import { asItems, forEachItem } from '../../../../nodes/shared/n8n/itemLoop';
import { InvalidInput } from '../../../../nodes/shared/api/errors';
import {
	makeAdditionalData,
	makeNode,
	makeWorkflow,
	setupEngine,
	TestCredentialsHelper,
} from '../../../engine';

beforeAll(setupEngine);

function contextOf(count: number, over: Partial<INode> = {}, signal?: AbortSignal): ExecuteContext {
	const node = makeNode({ type: 'test.sink', ...over });
	const items = Array.from({ length: count }, (_, index) => ({ json: { index } }));
	const data = { main: [items] };
	return new ExecuteContext(
		makeWorkflow([node]),
		node,
		makeAdditionalData(new TestCredentialsHelper()),
		'trigger',
		createEmptyRunExecutionData(),
		0,
		items,
		data,
		{ node, data, source: null },
		[],
		signal,
	);
}

const GO_ON: Partial<INode> = { onError: 'continueRegularOutput' };
const record = async (index: number) => await Promise.resolve(asItems({ index }));
const refused = new InvalidInput('Refused', 'Correct it.');

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

test('on Stop what is under way ends and no other item begins, with Continue too', async () => {
	const controller = new AbortController();
	const begun: number[] = [];
	const task = async (index: number) => {
		begun.push(index);
		if (index === 1) controller.abort();
		return await record(index);
	};
	const done = await forEachItem(contextOf(4, GO_ON, controller.signal), task);
	expect(begun).toEqual([0, 1]);
	expect(done).toHaveLength(2);
});

test('a failure lets no other item begin, and says what was done before', async () => {
	const begun: number[] = [];
	const task = async (index: number) => {
		begun.push(index);
		if (index === 2) throw refused;
		return await record(index);
	};
	const describeDone = (done: object[]) => `${done.length} done`;
	await expect(forEachItem(contextOf(5), task, { describeDone })).rejects.toMatchObject({
		message: 'Refused [item 2]',
		description: 'Correct it. 2 done.',
		context: { itemIndex: 2 },
	});
	expect(begun).toEqual([0, 1, 2]);
});

test('nothing is said of what was done where nothing was', async () => {
	const describeDone = jest.fn(() => 'none');
	const task = async () => await Promise.reject(refused);
	await expect(forEachItem(contextOf(1), task, { describeDone })).rejects.toMatchObject({
		message: 'Refused',
		description: 'Correct it.',
	});
	expect(describeDone).not.toHaveBeenCalled();
});

test('with Continue the others go on, and the item says what went wrong', async () => {
	const task = async (index: number) => {
		if (index === 1) throw refused;
		return await record(index);
	};
	const done = await forEachItem(contextOf(3, GO_ON), task);
	expect(done.map(({ json }) => json)).toEqual([
		{ index: 0 },
		{
			error: 'Refused [item 1]',
			message: 'Correct it.',
			details: { item: 1, outcome: 'notSent' },
		},
		{ index: 2 },
	]);
});

describe('the check of all items', () => {
	const check = (index: number) => {
		if (index % 2 === 1) throw refused;
	};

	test('comes before the first is done, and names each that does not pass', async () => {
		const task = jest.fn(record);
		await expect(forEachItem(contextOf(4), task, { check })).rejects.toMatchObject({
			message: 'Refused [item 1]',
			description:
				'Correct it. [item 3] Refused. Correct it. Nothing was sent: all items are checked before the first.',
		});
		expect(task).not.toHaveBeenCalled();
	});

	test('spells out nine others and counts the rest', async () => {
		const failing = () => {
			throw refused;
		};
		const stopped = async (count: number) =>
			await forEachItem(contextOf(count), record, { check: failing }).catch((error: unknown) =>
				error instanceof Error && 'description' in error ? String(error.description) : '',
			);
		expect(await stopped(10)).not.toContain('more items');
		expect(await stopped(12)).toMatch(/\[item 9\] Refused\. Correct it\. And 2 more items\./);
	});

	test('is left out with Continue, where each item has its own fate', async () => {
		const task = jest.fn(record);
		await forEachItem(contextOf(4, GO_ON), task, { check });
		expect(task).toHaveBeenCalledTimes(4);
	});
});
