import { plainText } from '../../../nodes/shared/values';
import { credentialFor } from '../../contract/credentialFor';
import { dialects, fixtures, startSimulator, type Simulator } from '../../simulator';
import type { ListChange } from '../../simulator/state/listChanges';
import { nodeHarness } from '../nodeHarness';

const AGENT = fixtures.agents.full;
const { records } = nodeHarness('dnd', {
	agentUuid: { __rl: true, mode: 'id', value: AGENT },
	phone: '={{ $json.phone }}',
});
const KINDS: ReadonlyArray<ListChange['kind']> = ['grow', 'shrink', 'replace', 'reorder'];

describe.each(Object.values(dialects))('a list that changes, dialect $name', (dialect) => {
	let simulator: Simulator;
	beforeAll(async () => {
		simulator = await startSimulator({ dialect, token: 'tok-0123456789ab' });
	});
	afterEach(() => simulator.reset());
	afterAll(async () => await simulator.stop());

	/** Without a name for the page size, a page is as long as the service makes it. */
	const credential = (isSized: boolean) => ({
		...credentialFor(simulator),
		...(!isSized && { dndListPerPageName: '' }),
	});
	const listed = () =>
		simulator.state.dnd.filter((entry) => entry.agentUuid === AGENT).map(({ phone }) => phone);

	describe.each([true, false])('with a page size of its own: %p', (isSized) => {
		test.each(KINDS)('Check Many misses nobody who was on it all the time (%s)', async (kind) => {
			const before = listed();
			for (const after of [1, 2, 3]) {
				const there = new Set(listed());
				simulator.listChanges.plan({ list: 'dnd', kind, after });
				const rows = before.map((phone) => ({ phone }));
				const setting = { items: rows, credential: credential(isSized) };
				const checked = await records({ operation: 'checkMany' }, setting);
				const stayed = new Set(listed().filter((phone) => there.has(phone)));
				const missed = checked.filter((row) => !row.on_dnd && stayed.has(plainText(row.phone)));
				expect(missed).toEqual([]);
				expect(stayed.size).toBeGreaterThan(100);
			}
		});
	});
});
