import fc from 'fast-check';
import { CalledNumbers } from '../../../../nodes/shared/numberLists/calledNumbers';
import {
	calledKey,
	createList,
	type ListOwner,
	listName,
	NumberLists,
} from '../../../../nodes/shared/numberLists/numberLists';
import { pushedKeys } from '../../../../nodes/shared/numberLists/pushedKeys';
import { KillableStore } from './killableStore';

const CALLS: ListOwner = { kind: 'calls', node: 'a' };
const pushesTo = (campaign: number, node = 'b'): ListOwner => ({ kind: 'pushes', node, campaign });
const NUMBER = '9876543210';
const OTHER = '9876543211';
const KEYS = { pushed: [NUMBER], called: [`91${NUMBER}`] };
const NOW = Date.parse('2026-11-20T12:00:00Z');
const ONCE = { calls: 1, periodMs: 24 * 3_600_000 };

async function push(store: KillableStore, owner: ListOwner, number: string): Promise<void> {
	expect(await createList(store, owner)).toBe(true);
	const { reserved, confirmed } = pushedKeys(listName(owner), number);
	await store.add([reserved, confirmed]);
}

async function call(store: KillableStore, owner: ListOwner, number: string): Promise<boolean> {
	expect(await createList(store, owner)).toBe(true);
	const key = calledKey(listName(owner), `91${number}`);
	return 'release' in (await new CalledNumbers(store).record(key, NOW, NOW, ONCE));
}

test('forgets a number in the lists of all nodes and campaigns, and nothing else', async () => {
	const store = new KillableStore();
	for (const campaign of [4, 42, 427]) await push(store, pushesTo(campaign), OTHER);
	await push(store, pushesTo(42, 'c'), OTHER);
	await call(store, CALLS, OTHER);
	const before = new Set(store.texts);
	for (const campaign of [42, 427]) await push(store, pushesTo(campaign), NUMBER);
	await call(store, CALLS, NUMBER);
	await call(store, { ...CALLS, node: 'copy' }, NUMBER);
	await createList(store, { ...CALLS, node: 'copy' });

	const lists = await NumberLists.read(store);
	expect(await lists.forget(KEYS)).toEqual({ campaigns: [42, 427], calls: true });
	expect(await lists.forget(KEYS)).toEqual({ campaigns: [], calls: false });
	const left = [...store.texts].filter((text) => !before.has(text));
	expect(left.every((text) => text.startsWith('list of calls '))).toBe(true);
	expect([...before].every((text) => store.texts.has(text))).toBe(true);
	expect(await call(store, CALLS, OTHER)).toBe(false);
	expect(await call(store, CALLS, NUMBER)).toBe(true);
});

test('finds every list, also after n8n was killed while it searched', async () => {
	const owners = fc.uniqueArray(fc.record({ node: fc.string(), campaign: fc.nat() }), {
		minLength: 1,
		maxLength: 4,
	});
	await fc.assert(
		fc.asyncProperty(owners, fc.array(fc.nat(40), { maxLength: 2 }), async (lists, kills) => {
			const store = new KillableStore();
			for (const { node, campaign } of lists) await push(store, pushesTo(campaign, node), NUMBER);
			for (const left of kills) {
				store.left = left;
				await NumberLists.read(store).catch(() => undefined);
				store.left = Infinity;
			}
			const { campaigns, calls } = await (await NumberLists.read(store)).forget(KEYS);
			const pushed = new Set(lists.map(({ campaign }) => campaign));
			expect([new Set(campaigns), calls]).toEqual([pushed, false]);
		}),
		{ numRuns: 60 },
	);
});

test('a store in which many searches were interrupted in a row is read or reported', async () => {
	const store = new KillableStore();
	await push(store, pushesTo(42), NUMBER);
	for (let level = 0; level < 6; level++) {
		store.left = level + 1;
		await expect(NumberLists.read(store)).rejects.toThrow(/killed|can't be read/);
	}
	store.left = Infinity;
	await expect(NumberLists.read(store)).rejects.toThrow(/can't be read, so nothing was forgotten/);
	await store.clear();
	expect(await (await NumberLists.read(store)).forget(KEYS)).toMatchObject({ campaigns: [] });
});

test('a search leaves the store as it was, and removes what an interrupted one left', async () => {
	const store = new KillableStore();
	await push(store, pushesTo(42), NUMBER);
	await createList(store, CALLS);
	const before = [...store.texts];
	await NumberLists.read(store);
	expect([...store.texts]).toEqual(before);
	store.left = 5;
	await expect(NumberLists.read(store)).rejects.toThrow('killed');
	store.left = Infinity;
	expect(store.texts.size).toBeGreaterThan(before.length + 10);
	await NumberLists.read(store);
	expect(store.texts.size).toBeLessThanOrEqual(before.length + 1);
});

test('a list is created once', async () => {
	const store = new KillableStore();
	await createList(store, CALLS);
	const { size } = store.texts;
	await createList(store, CALLS);
	expect(store.texts.size).toBe(size);
});

test.each([
	['texts of another node', async (store: KillableStore) => await store.add(['row 1'])],
	[
		'no room for its oldest texts',
		async (store: KillableStore) => {
			await push(store, pushesTo(42), NUMBER);
			const [oldest = ''] = store.texts;
			store.texts.delete(oldest);
		},
	],
])('no list is created in a store with %s', async (_name, prepare) => {
	const store = new KillableStore();
	await prepare(store);
	const before = [...store.texts];
	expect(await createList(store, CALLS)).toBe(false);
	expect(await createList(store, pushesTo(42))).toBe(false);
	expect([...store.texts]).toEqual(before);
});
