import {
	comparedReport,
	hasEnded,
	isBehind,
	isWanted,
	OBSERVED_OUTCOMES,
	outcomeKey,
	statusKey,
} from '../../../../nodes/core/calls/callEnd';
import type { JsonObject } from '../../../../nodes/core/values/json';

const ID = '6f1c2a34-0000-4000-8000-000000000001';

it('a report is compared by its outcome, from any position, and by the late fields that it has', () => {
	const data = { status: 'picked', call_picked_at: '2026-11-20T10:00:00Z', campaign_id: 7 };
	const record = { call_id: ID, retry_count: 0, summary: 'x', data };
	expect(comparedReport({ callId: ID, record })).toEqual({
		status: 'picked',
		retry_count: 0,
		call_picked_at: '2026-11-20T10:00:00Z',
		summary: true,
	});
});

describe('the key of an outcome', () => {
	const AT = '2026-11-20T10:00:00+05:30';
	const LATER = '2026-11-20T11:00:00+05:30';
	/** Reports of one call, by their fields: how many outcomes they are. */
	const outcomesOf = (...reports: JsonObject[]) =>
		new Set(reports.map((report) => outcomeKey('call', report))).size;
	const picked = { status: 'picked', retry_count: 0 };
	const at = (...times: string[]) => times.map((time) => ({ ...picked, call_picked_at: time }));

	it.each<[string, JsonObject[], number]>([
		['without a count and with none', [{ status: 'picked' }, picked], 1],
		['with more than before', [picked, { ...picked, summary: 'x', call_ended_reason: 'x' }], 1],
		['the same time, written in another way', at(AT, '2026-11-20T04:30:00.000Z'), 1],
		[
			'the same time with and without fractions of a second',
			at(AT, '2026-11-20T10:00:00.999+05:30'),
			1,
		],
		['a redial that is picked up', [{ status: 'not_picked' }, { ...picked, retry_count: 1 }], 2],
		['a redial with the same end', [1, 2].map((count) => ({ ...picked, retry_count: count })), 2],
		['another status', [{ status: 'not_picked' }, { status: 'failed' }], 2],
		['a callback that is picked up later, each reported twice', at(AT, LATER, AT, LATER), 2],
	])('%s', (_name, reports, outcomes) => {
		expect(outcomesOf(...reports)).toBe(outcomes);
	});

	it('is the same for a UUID in upper and lower case, but not for other IDs', () => {
		expect(outcomeKey(ID.toUpperCase(), picked)).toBe(outcomeKey(ID, picked));
		expect(outcomeKey('aBc', picked)).not.toBe(outcomeKey('abc', picked));
	});

	it('differs between calls, and is short, however long a forged value is', () => {
		expect(outcomeKey('a', picked)).not.toBe(outcomeKey('b', picked));
		const status = ['x'.repeat(1_000_000)];
		expect(outcomeKey('a', { status, call_picked_at: AT }).length).toBeLessThan(100);
	});
});

describe('whether a record is behind its report', () => {
	const AT = '2026-11-20T10:00:00+05:30';
	const shown = { status: 'not_picked', retry_count: 1, summary: null };
	const pickedUp = { status: 'picked', retry_count: 1, call_picked_at: AT };
	const at = (call_picked_at: string | null) => ({ ...pickedUp, call_picked_at });

	it.each<[string, JsonObject, JsonObject, boolean]>([
		['the same outcome', shown, { status: 'not_picked', retry_count: 1 }, false],
		['nothing', shown, {}, false],
		['a later retry', shown, { retry_count: 2 }, true],
		['a first retry', { status: 'picked' }, { retry_count: 1 }, true],
		['an earlier retry', shown, { retry_count: 0, call_picked_at: AT }, false],
		['a later retry, with the count as text', shown, { retry_count: '2' }, true],
		['values of other kinds', shown, { status: ['picked'], retry_count: ['2'] }, false],
		['a summary that the record lacks', shown, { retry_count: 1, summary: true }, true],
		['a summary', { ...shown, summary: 'Busy' }, { retry_count: 1, summary: true }, false],
		['an analysis without values', { post_call_analysis: {} }, { post_call_analysis: true }, true],
		['a pick-up that the record does not show yet', shown, pickedUp, true],
		['a pick-up that no record shows', { ...shown, status: 'picked' }, pickedUp, false],
		['a callback that was picked up later', pickedUp, at('2026-11-20T10:20:00.250+05:30'), true],
		['the same time in another zone', pickedUp, at('2026-11-20T04:30:00Z'), false],
		['the same time, rounded up', pickedUp, at('2026-11-20T10:00:01+05:30'), false],
		['an earlier time', pickedUp, at('2026-11-20T09:00:00+05:30'), false],
		['a time without an offset', pickedUp, at('2026-11-20T12:00:00'), false],
		['no time', pickedUp, at(null), false],
		['a time that cannot be compared', at('2026-11-20T10:00:00'), at(AT), false],
	])('%s', (_name, record, report, behind) => {
		expect(isBehind(record, report)).toBe(behind);
	});
});

describe('whether a call has ended', () => {
	const picked = { status: 'picked', call_picked_at: 'x' };
	const pending = { sentiment: null, tags: [], scores: { mood: null } };

	it.each<[string, JsonObject, boolean]>([
		['who ended it', { ...picked, call_ended_by: 'agent' }, true],
		['why it ended', { status: 'voicemail', call_ended_reason: 'timeout' }, true],
		['why in words', { call_ended_reason_message: 'Hung up' }, true],
		['a summary', { ...picked, summary: 'Wants a visit' }, true],
		['an analysis', { post_call_analysis: { sentiment: 'positive' } }, true],
		['an empty analysis', { post_call_analysis: {} }, false],
		['an analysis that has no value yet', { post_call_analysis: pending }, false],
		['an analysis that says no', { post_call_analysis: { callback_required: false } }, true],
		['an outcome of a call never picked up', { status: 'not_picked' }, true],
		['the same in another spelling', { status: 'Not picked' }, true],
		['picked in another spelling', { status: 'PICKED' }, false],
		['an outcome of a call that broke off', { status: 'failed', call_picked_at: 'x' }, true],
		['picked while the person may still talk', picked, false],
		['a status that is not listed', { status: 'voicemail' }, false],
		['no status', { status: null }, false],
		['nothing at all', {}, false],
	])('%s', (_name, record, ended) => {
		expect(hasEnded(record, new Set(OBSERVED_OUTCOMES.map(statusKey)))).toBe(ended);
	});

	it('depends on the statuses in the list', () => {
		expect(hasEnded({ status: 'voicemail', call_picked_at: 'x' }, new Set(['voicemail']))).toBe(
			true,
		);
		expect(hasEnded({ status: 'failed' }, new Set(['voicemail']))).toBe(false);
	});
});

it('statuses are compared without case and separators, but a status of separators is not an empty one', () => {
	const keys = ['not_picked', 'Not picked', 'NOT-PICKED', 'notPicked'].map(statusKey);
	expect(new Set(keys).size).toBe(1);
	const filters = {
		status: new Set(['-'].map(statusKey)),
		agent_uuid: [],
		campaign_id: [],
		optedOut: '',
	};
	expect(isWanted({ status: '-' }, filters, '')).toBe(true);
	for (const status of ['', null, 'picked']) expect(isWanted({ status }, filters, '')).toBe(false);
});
