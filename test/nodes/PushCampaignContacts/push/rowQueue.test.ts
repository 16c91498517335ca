import {
	PushedNumbers,
	requireRoom,
} from '../../../../nodes/PushCampaignContacts/push/pushedNumbers';
import type { DeduplicationStore } from '../../../../nodes/shared/deduplicationStore';
import { NotSent } from '../../../../nodes/shared/api/errors';
import { forEveryone } from '../../../../nodes/shared/api/resolution';
import { accept, phone, push, scripted, statuses } from './scripted';

/** A store in memory. */
function memoryStore() {
	const held = new Set<string>();
	const store: DeduplicationStore = {
		add: async (keys) => {
			const fresh = keys.filter((key) => !held.has(key));
			for (const key of fresh) held.add(key);
			return fresh;
		},
		remove: async (keys) => {
			for (const key of keys) held.delete(key);
		},
		clear: async () => held.clear(),
		count: async () => held.size,
	};
	return { store, held };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const keys = range(0, 1_000).map(phone);
const numbersIn = (store: DeduplicationStore) => new PushedNumbers(store, 42, keys);
const pushedIn = (held: ReadonlySet<string>) =>
	[...held].filter((key) => /^pushed 42 9\d+$/.test(key));

test('a number that was released can be reserved again, and one that was not is known', async () => {
	const { store } = memoryStore();
	const numbers = numbersIn(store);
	expect(await numbers.reserve(range(0, 3))).toEqual({ fresh: [0, 1, 2], known: [] });
	await numbers.release([1]);
	expect(await numbers.reserve(range(0, 4))).toEqual({ fresh: [1, 3], known: [0, 2] });
});

test('looking for known numbers leaves no others', async () => {
	const { store, held } = memoryStore();
	const numbers = numbersIn(store);
	await numbers.reserve([1]);
	expect(await numbers.findKnown(range(0, 3))).toEqual([1]);
	expect(pushedIn(held)).toHaveLength(1);
});

test('reserves no more numbers than fit in the next request', async () => {
	const { store, held } = memoryStore();
	await numbersIn(store).reserve(range(0, 25));
	const { options, sent } = scripted((phones, request) => {
		// 25 old ones, and the new ones in flight or with a result.
		expect(pushedIn(held)).toHaveLength(25 + 10 * request);
		return accept(phones, request);
	});
	await push(45, { ...options, contactsPerRequest: 10, pushedNumbers: store });
	expect(sent.map((phones) => phones.length)).toEqual([10, 10]);
});

test('releases reserved rows if the next store access fails', async () => {
	const { store, held } = memoryStore();
	await numbersIn(store).reserve(range(0, 5));
	const { options, sent } = scripted(accept);
	let adds = 0;
	const add = async (texts: string[]) => {
		if (++adds === 2) throw new NotSent('No memory', forEveryone('Ask.'));
		return await store.add(texts);
	};
	const outcome = await push(20, {
		...options,
		contactsPerRequest: 10,
		pushedNumbers: { ...store, add },
	});
	expect([sent, outcome.stopped?.message]).toEqual([[], 'No memory']);
	expect(statuses(outcome).filter((row) => row.endsWith('not_sent'))).toHaveLength(15);
	expect(pushedIn(held)).toHaveLength(5);
});

test('a push with more rows than n8n remembers is not sent', () => {
	expect(() => requireRoom(500_000)).not.toThrow();
	expect(() => requireRoom(500_001)).toThrow(
		/can remember 500,000 numbers, so a push can have at most 500,000 rows\. Nothing was sent/,
	);
});
