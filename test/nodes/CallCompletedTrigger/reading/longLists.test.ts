import {
	compactEntry,
	ListedCall,
} from '../../../../nodes/CallCompletedTrigger/reading/listedCall';
import { OutcomeKeys } from '../../../../nodes/shared/calls/callEnd';
import { asRecord, parseJson } from '../../../../nodes/shared/json';
import { engineHarness } from '../../../engine';
import { dialects, fixtures } from '../../../simulator';
import { recordOf } from '../../../simulator/calls/record';
import { seededCall } from '../../../simulator/state/seed';
import { readingTests } from './readingHarness';

const CALLS = 3_000;

/** More than the entries that a reading handles before it yields. */
const MAX_READ_WITHOUT_YIELD = 1_000;

const { plain } = dialects;
const { service, publish } = readingTests(engineHarness(), plain);

/** Counts the calls whose time is read in one iteration of the event loop. */
function watchCalls() {
	const getter = jest.spyOn(ListedCall.prototype, 'createdAt', 'get');
	let max = 0;
	let next: NodeJS.Immediate;
	const onIteration = (): void => {
		max = Math.max(max, getter.mock.calls.length);
		getter.mockClear();
		next = setImmediate(onIteration);
	};
	next = setImmediate(onIteration);
	return { max: () => max, stop: () => clearImmediate(next) };
}

it('a reading of a long list lets other work of n8n continue', async () => {
	const { calls } = service().state;
	for (let number = 0; number < CALLS; number++) {
		const call = seededCall(number, Date.now());
		const callId = `long-list-${number}`;
		const outcome = { status: 'picked', summary: 'Interested' };
		calls.set(callId, { ...call, callId, uploadId: fixtures.uploads.running, outcome });
	}
	const trigger = await publish();
	const watched = watchCalls();
	await trigger.read(2);
	watched.stop();
	expect(watched.max()).toBeGreaterThan(0);
	expect(watched.max()).toBeLessThan(MAX_READ_WITHOUT_YIELD);
	expect(trigger.started).toEqual([]);
});

it.each(Object.values(dialects))(
	'the fields that a reading keeps of an entry show the same, dialect $name',
	(dialect) => {
		const viewOf = (call: ListedCall | undefined) => ({
			callId: call?.callId,
			createdAt: call?.createdAt,
			outcomeKey: call?.outcomeKey(new OutcomeKeys()),
			hasEnded: call?.hasEnded([]),
			showsEnds: call?.showsEnds,
			campaignId: call?.campaignId,
			content: call?.content,
		});
		const seeded = seededCall(1, Date.now());
		const outcomes = [
			{},
			{ status: 'picked', summary: 'Interested', retry_count: 2 },
			{ status: 'not_picked', summary: '', post_call_analysis: { sentiment: null } },
			{ call_picked_at: '2026-11-22T10:00:00+05:30', post_call_analysis: { sentiment: 'good' } },
		];
		for (const outcome of outcomes) {
			const shown = recordOf({ ...seeded, outcome }, undefined, dialect);
			const entry = asRecord(parseJson(JSON.stringify(shown)) ?? null);
			const compact = compactEntry(entry);
			expect(viewOf(ListedCall.from(compact))).toEqual(viewOf(ListedCall.from(entry)));
			expect(JSON.stringify(compact)).not.toContain('Interested');
		}
	},
);
