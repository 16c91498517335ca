import { PushedNumbers } from '../../../../nodes/PushCampaignContacts/push/pushedNumbers';
import type { DeduplicationStore } from '../../../../nodes/shared/deduplicationStore';
import type { NumberList } from '../../../../nodes/PushCampaignContacts/push/pushedNumbers';
import { NewNumbersOnly } from '../../../../nodes/PushCampaignContacts/push/rowQueue';
import { RowSet } from '../../../../nodes/PushCampaignContacts/push/rowSet';
import { NotSent } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import { accept, phone, push, scripted, statuses } from './scripted';
import { countRows } from '../../../../nodes/PushCampaignContacts/push/summary';

/** A store that records what is added and removed. */
function memoryStore() {
	const held = new Set<string>();
	const added: string[][] = [];
	const removed: number[] = [];
	const store: DeduplicationStore = {
		add: async (keys) => {
			added.push(keys);
			const fresh = keys.filter((key) => !held.has(key));
			for (const key of fresh) held.add(key);
			return fresh;
		},
		remove: async (keys) => {
			removed.push(keys.length);
			for (const key of keys) held.delete(key);
		},
		clear: async () => held.clear(),
		count: async () => held.size,
	};
	return { store, held, added, removed };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const keys = range(0, 1_000).map(phone);
const listIn = (store: DeduplicationStore, texts = 0): NumberList => ({
	store,
	name: 'list',
	texts,
});

test('writes confirmations together with the next reservations', async () => {
	const { store, added } = memoryStore();
	const memory = new PushedNumbers(listIn(store), keys);
	await memory.reserve([0, 1]);
	memory.confirm([0, 1]);
	await memory.reserve([2]);
	await memory.reserve([3]);
	expect(added.map((keys) => keys.length)).toEqual([2, 3, 1]);
});

test('removes numbers from a large store in small steps', async () => {
	const { store, removed } = memoryStore();
	const memory = new PushedNumbers(listIn({ ...store, count: async () => 25_000_000 }), keys);
	await memory.reserve(range(0, 5));
	await memory.release(range(0, 5));
	expect(removed).toEqual([2, 2, 1]);
	expect((await memory.reserve(range(0, 5))).fresh).toEqual(range(0, 5));
});

test('reserves no more numbers than fit in the next request', async () => {
	const { store, held } = memoryStore();
	await new PushedNumbers(listIn(store), keys).reserve(range(0, 25));
	const { options, sent } = scripted((phones, request) => {
		// 25 old ones, and the new ones in flight or with a result.
		expect([...held].filter((key) => /^pushed list 9\d+$/.test(key))).toHaveLength(
			25 + 10 * request,
		);
		return accept(phones, request);
	});
	await push(45, { ...options, contactsPerRequest: 10, numberList: listIn(store) });
	expect(sent.map((phones) => phones.length)).toEqual([10, 10]);
});

test('releases reserved rows if the next store access fails', async () => {
	const { store, held } = memoryStore();
	const memory = new PushedNumbers(listIn(store), keys);
	await memory.reserve(range(0, 5));
	await memory.end([]);
	const { options, sent } = scripted(accept);
	let adds = 0;
	const add = async (keys: string[]) => {
		if (++adds === 2) throw new NotSent('No memory', forEveryone('Ask.'));
		return await store.add(keys);
	};
	const numberList = listIn({ ...store, add });
	const outcome = await push(20, { ...options, contactsPerRequest: 10, numberList });
	expect([sent, outcome.stopped?.message]).toEqual([[], 'No memory']);
	expect(statuses(outcome).filter((row) => row.endsWith('not_sent'))).toHaveLength(15);
	expect([...held].filter((key) => /^pushed list 9\d+$/.test(key))).toHaveLength(5);
});

test('interrupted numbers are reported in the run that has them', async () => {
	const { store } = memoryStore();
	await new PushedNumbers(listIn(store), keys).reserve([0, 1]);
	const endOf = async (rows: number[]) => {
		const memory = new PushedNumbers(listIn(store), keys);
		const { known } = await memory.reserve(rows);
		return await memory.end(known);
	};
	expect([await endOf([5]), await endOf([1]), await endOf([0, 1])]).toEqual([[], [1], [0]]);
});

test('reports interrupted numbers once', async () => {
	const { store } = memoryStore();
	await new PushedNumbers(listIn(store), keys).reserve([0, 1]);
	const statusesOf = async () => {
		const intake = new NewNumbersOnly(
			RowSet.of([0, 1, 2]),
			new PushedNumbers(listIn(store), keys),
			'onScreen',
		);
		const rows = await intake.take(10);
		await intake.settle(rows, []);
		await intake.close();
		return [
			rows,
			intake
				.skipped()
				.flatMap(({ rows: { size }, status }) => Array.from({ length: size }, () => status)),
		];
	};
	expect(await statusesOf()).toEqual([[2], ['unknown', 'unknown']]);
	expect(await statusesOf()).toEqual([[], ['pushed_before', 'pushed_before', 'pushed_before']]);
});

test('stops when n8n remembers as many numbers as it can, and pushes the same rows after some were forgotten', async () => {
	const { store } = memoryStore();
	const almostFull = listIn(store, 1_000_000 - 2 * 15);
	const first = scripted(accept);
	const settings = { ...first.options, contactsPerRequest: 10 };
	const outcome = await push(45, { ...settings, numberList: almostFull });
	expect(first.sent.map((phones) => phones.length)).toEqual([10, 10]);
	expect(outcome.stopped?.message).toMatch(
		/^'Skip Numbers Pushed Before' can't remember more than 500,000 numbers per workflow/,
	);
	expect(countRows(outcome)).toMatchObject({ pushed: 20, not_sent: 25 });
	const second = scripted(accept);
	const later = await push(45, { ...second.options, numberList: listIn(store) });
	expect(second.sent.flat()).toEqual(range(20, 45).map(phone));
	expect(countRows(later)).toMatchObject({ pushed: 25, pushed_before: 20 });
});
