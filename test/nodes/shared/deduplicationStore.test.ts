import range from 'lodash/range';
import { removeAll, type DeduplicationStore } from '../../../nodes/shared/deduplicationStore';

/** A set with this many texts, which records how many are removed together. */
function storeOf(size: number) {
	const removed: string[][] = [];
	const store: DeduplicationStore = {
		add: async () => await Promise.resolve([]),
		remove: async (texts) => {
			removed.push(texts);
			await Promise.resolve();
		},
		clear: async () => await Promise.resolve(),
		count: async () => await Promise.resolve(size),
	};
	return { store, removed };
}

const texts = (count: number) => range(count).map((nth) => `text ${nth}`);

test.each([
	[0, 3, [3]],
	[100, 3, [3]],
	// n8n compares each text with the whole set: 50 million comparisons in a batch.
	[1_000_000, 120, [50, 50, 20]],
	[1_000_000, 100, [50, 50]],
	[100_000_000, 2, [1, 1]],
])('from a set of %i, %i texts are removed in parts of %j', async (size, count, parts) => {
	const { store, removed } = storeOf(size);
	await removeAll(store, texts(count));
	expect(removed.map(({ length }) => length)).toEqual(parts);
	expect(removed.flat()).toEqual(texts(count));
});

test('to remove no texts, the set is not read', async () => {
	const { store, removed } = storeOf(5);
	store.count = async () => await Promise.reject(new Error('read'));
	await removeAll(store, []);
	expect(removed).toEqual([]);
});
