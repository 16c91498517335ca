import range from 'lodash/range';
import { plainText } from '../../../nodes/shared/values';
import { credentialFor } from '../../contract/credentialFor';
import { dialects, startSimulator, type Simulator } from '../../simulator';
import type { ListChange } from '../../simulator/state/listChanges';
import { seededCall } from '../../simulator/state/seed';
import { nodeHarness } from '../nodeHarness';

const { records } = nodeHarness('getCall', { operation: 'getMany', returnAll: true });
const KINDS: ReadonlyArray<ListChange['kind']> = ['grow', 'shrink', 'replace', 'reorder'];
const PEOPLE = 40;
const HOUR_MS = 3_600_000;

describe.each(Object.values(dialects))('a call list that changes, dialect $name', (dialect) => {
	let simulator: Simulator;
	beforeAll(async () => {
		simulator = await startSimulator({ dialect, token: 'tok-0123456789ab' });
	});
	beforeEach(() => {
		const { calls } = simulator.state;
		calls.clear();
		// Nobody answered the first call, and everyone answered the second one.
		for (const [attempt, status] of ['not_picked', 'picked'].entries()) {
			for (const person of range(PEOPLE)) {
				const number = attempt * PEOPLE + person;
				const at = simulator.clock.now() - (2 * PEOPLE - number) * HOUR_MS;
				const call = { ...seededCall(number, at), phone: phoneOf(person), outcome: { status } };
				calls.set(call.callId, call);
			}
		}
	});
	afterEach(() => simulator.reset());
	afterAll(async () => await simulator.stop());

	const phoneOf = (person: number) => `+9198765${String(person).padStart(5, '0')}`;

	describe.each([true, false])('with a page size of its own: %p', (isSized) => {
		test.each(KINDS)(
			'people who were reached are not returned as not reached (%s)',
			async (kind) => {
				const details = credentialFor(simulator);
				const credential = isSized ? details : { ...details, callListPageSizeName: '' };
				const developerSettings = isSized ? { pageSize: 7 } : {};
				for (const after of [0, 1, 3]) {
					const before = reached();
					simulator.listChanges.plan({ list: 'calls', kind, after });
					// The second page arrives after the pages that were requested with it.
					simulator.faults.inject({ kind: 'status', status: 503, skip: 1, times: 1 });
					const found = await records(
						{ options: { latestOfEachNumber: true }, developerSettings },
						{ credential },
					);
					const still = reached();
					const again = found
						.filter(({ status }) => status === 'not_picked')
						.map(({ phone_number: phone }) => plainText(phone));
					expect(again.filter((phone) => before.has(phone) && still.has(phone))).toEqual([]);
					expect(found.length).toBeGreaterThanOrEqual(PEOPLE);
					expect(still.size).toBeGreaterThan(PEOPLE / 2);
				}
			},
		);
	});

	/** People whose latest call was picked up. */
	function reached(): Set<string> {
		const latest = new Map(
			[...simulator.state.calls.values()]
				.sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
				.map(({ phone, outcome }) => [phone, outcome.status]),
		);
		return new Set([...latest].filter(([, status]) => status === 'picked').map(([phone]) => phone));
	}
});
