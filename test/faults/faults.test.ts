import { FaultyN8n } from './faultyN8n';
import { FaultLoad } from './load';

const FAULT_MS = 45_000;

let n8n: FaultyN8n;
let load: FaultLoad;

afterEach(async () => {
	await n8n.stop();
	await load.close();
});

/** Prints what happened, and checks what must be true under every fault. */
async function runWith(kind: 'sqlite' | 'postgres' | 'clock', fault: () => Promise<unknown>) {
	n8n = await FaultyN8n.start(kind);
	load = await FaultLoad.open(n8n.server.baseUrl);
	await load.runWith(fault);
	const results = await load.results();
	console.log(expect.getState().currentTestName, JSON.stringify(results, null, 1));
	for (const { calls, pushed, events } of [results.first, results.afterRetry]) {
		for (const counts of [calls, pushed, events])
			expect(Object.keys(counts).filter((count) => Number(count) > 1)).toEqual([]);
	}
	return results;
}

test('the database is locked: nobody is called twice, and no event starts twice', async () => {
	await runWith('sqlite', async () => await n8n.lockDatabase(FAULT_MS));
});

test('the disk is full: nobody is called twice, and no event starts twice', async () => {
	await runWith('sqlite', async () => await n8n.fillDisk(FAULT_MS));
});

test('PostgreSQL is gone and comes back: nobody is called twice, and no event starts twice', async () => {
	await runWith('postgres', async () => await n8n.postgres?.restartAfter(FAULT_MS));
});

const HOUR_MS = 3_600_000;

test.each([
	['-1h', -HOUR_MS],
	['+1d', 24 * HOUR_MS],
])(
	'the clock is set by %s: everyone is called once, and each event starts one execution',
	async (setting, offset) => {
		const { first } = await runWith('clock', async () => await n8n.setClock(setting));
		expect(Math.abs((await n8n.clockOffset()) - offset)).toBeLessThan(60_000);
		expect(first).toMatchObject({
			calls: { 1: 120 },
			pushed: { 1: 120 },
			events: { 1: 60 },
			executions: { waits: { success: 5 } },
		});
	},
);
