import {
	hasEnded,
	isWanted,
	laterOutcome,
	OBSERVED_OUTCOMES,
	outcomeHint,
	OutcomeKeys,
	parseList,
	reportedOutcome,
} from '../../../../nodes/shared/calls/callEnd';
import type { JsonObject } from '../../../../nodes/shared/json';

const ID = '6f1c2a34-0000-4000-8000-000000000001';

it('a call that is not verified has the outcome and filter fields from any position of the report', () => {
	const record = { call_id: ID, status: 'picked', retry_count: 0, note: 'x' };
	const part = { data: record, call_picked_at: '2026-11-20T10:00:00Z', campaign_id: 7 };
	expect(reportedOutcome({ callId: ID, record, part })).toEqual({
		status: 'picked',
		retry_count: 0,
		call_picked_at: '2026-11-20T10:00:00Z',
		agent_uuid: null,
		campaign_id: 7,
	});
});

describe('the key of an outcome', () => {
	const AT = '2026-11-20T10:00:00+05:30';
	const LATER = '2026-11-20T11:00:00+05:30';
	/** Reports of one call, by their fields: how many outcomes they are. */
	const outcomesOf = (...reports: JsonObject[]) => {
		const keys = new OutcomeKeys();
		return new Set(reports.map((report) => keys.keyOf('call', report))).size;
	};
	const picked = { status: 'picked', retry_count: 0 };

	it.each<[string, JsonObject[], number]>([
		['the same twice', [picked, picked], 1],
		['without and with the time of it', [picked, { ...picked, call_picked_at: AT }], 1],
		[
			'without, with and with a later time of it',
			[
				picked,
				{ ...picked, call_picked_at: AT },
				{ ...picked, call_picked_at: '2027-01-01T00:00:00Z' },
			],
			2,
		],
		['with and without it', [{ ...picked, call_picked_at: AT }, picked], 1],
		['without a count and with none', [{ status: 'picked' }, picked], 1],
		[
			'with more than before',
			[picked, { ...picked, summary: 'x', call_ended_reason_message: 'x' }],
			1,
		],
		[
			'the same time, written in another way',
			[AT, '2026-11-20T04:30:00.000Z'].map((at) => ({ ...picked, call_picked_at: at })),
			1,
		],
		[
			'the same time with and without fractions of a second, at the first pick-up and at a callback',
			[
				AT,
				'2026-11-20T10:00:00.250+05:30',
				'2026-11-20T10:00:00.999+05:30',
				LATER,
				'2026-11-20T05:30:00.999Z',
			].map((at) => ({ ...picked, call_picked_at: at })),
			2,
		],
		[
			'the same time with fractions of a second first',
			['2026-11-20T10:00:00.250+05:30', AT].map((at) => ({ ...picked, call_picked_at: at })),
			1,
		],
		['a redial that is picked up', [{ status: 'not_picked' }, { ...picked, retry_count: 1 }], 2],
		['a redial with the same end', [1, 2].map((count) => ({ ...picked, retry_count: count })), 2],
		['another status', [{ status: 'not_picked' }, { status: 'failed' }], 2],
		[
			'a callback that is picked up later, each reported twice, and once without the time',
			[AT, LATER, AT, LATER, null].map((at) => ({ ...picked, call_picked_at: at })),
			2,
		],
	])('%s', (_name, reports, outcomes) => {
		expect(outcomesOf(...reports)).toBe(outcomes);
	});

	it.each(['2026-11-19T22:00:00', '2026-11-21T10:00:00'])(
		'is that of the record, although the call list shows the time %s, without a UTC offset',
		(listed) => {
			const keysOf = (...times: string[]) => {
				const own = new OutcomeKeys();
				return times.map((time) => own.keyOf(ID, { ...picked, call_picked_at: time }));
			};
			const [, first, callback] = keysOf(listed, AT, LATER);
			expect([first, callback]).toEqual(keysOf(AT, LATER));
		},
	);

	const keys = new OutcomeKeys();

	it('is the same for a UUID in upper and lower case, but not for other IDs', () => {
		expect(keys.keyOf(ID.toUpperCase(), picked)).toBe(keys.keyOf(ID, picked));
		expect(keys.keyOf('aBc', picked)).not.toBe(keys.keyOf('abc', picked));
	});

	it('is short, however long a forged value is', () => {
		const status = ['x'.repeat(1_000_000)];
		expect(keys.keyOf('a', { status, call_picked_at: AT }).length).toBeLessThan(100);
	});

	it('does not remember the time of a mere report', () => {
		const callback = { ...picked, call_picked_at: LATER };
		const first = keys.keyOf('reported', callback, false);
		expect(keys.keyOf('reported', { ...picked, call_picked_at: AT })).toBe(first);
		expect(keys.keyOf('reported', callback, false)).not.toBe(first);
		expect(keys.keyOf('reported', callback)).toBe(keys.keyOf('reported', callback, false));
	});

	it('differs between calls', () => {
		expect(keys.keyOf('a', picked)).not.toBe(keys.keyOf('b', picked));
	});
});

describe('what a report says about the outcome', () => {
	const shown = { status: 'not_picked', retry_count: 1, summary: null };

	it.each<[string, JsonObject, JsonObject | undefined]>([
		['the outcome of the record', { status: 'not_picked', retry_count: 1 }, undefined],
		['nothing', {}, undefined],
		['only the status of the record', { status: 'not_picked' }, undefined],
		['only another status', { status: 'picked' }, { status: 'picked', retry_count: 1 }],
		['only a later retry', { retry_count: 2 }, { status: 'not_picked', retry_count: 2 }],
		['both', { status: 'picked', retry_count: 2 }, { status: 'picked', retry_count: 2 }],
		['an earlier retry', { status: 'failed', retry_count: 0 }, undefined],
		['a status that no record has', { status: 'call.completed' }, undefined],
		['values of other kinds', { status: ['picked'], retry_count: '2' }, undefined],
	])('%s: later than the record, or not', (_name, record, later) => {
		const hint = outcomeHint({ callId: ID, record, part: record }, OBSERVED_OUTCOMES);
		expect(laterOutcome(shown, hint)).toEqual(later);
	});

	const AT = '2026-11-20T10:00:00+05:30';
	const pickedUp = { status: 'picked', retry_count: 1, call_picked_at: AT };
	const callback = (call_picked_at: string) => ({ ...pickedUp, call_picked_at });

	it.each<[string, JsonObject, JsonObject, JsonObject | undefined]>([
		[
			'a callback that was picked up later',
			pickedUp,
			callback('2026-11-20T10:20:00.250+05:30'),
			callback('2026-11-20T04:50:00.000Z'),
		],
		['the same time in another zone', pickedUp, callback('2026-11-20T04:30:00Z'), undefined],
		['the same time, rounded up', pickedUp, callback('2026-11-20T10:00:01+05:30'), undefined],
		['an earlier time', pickedUp, callback('2026-11-20T09:00:00+05:30'), undefined],
		[
			'another status and an earlier time',
			pickedUp,
			{ ...callback('2026-11-20T09:00:00+05:30'), status: 'failed' },
			undefined,
		],
		[
			'a later retry and an earlier time',
			pickedUp,
			{ ...callback('2026-11-20T09:00:00+05:30'), retry_count: 2 },
			{ status: 'picked', retry_count: 2 },
		],
		['a time without an offset', pickedUp, callback('2026-11-20T12:00:00'), undefined],
		[
			'a time that cannot be compared with that of the record',
			callback('2026-11-20T10:00:00'),
			callback('2026-11-20T10:20:00+05:30'),
			undefined,
		],
		['no time', pickedUp, { status: 'picked', retry_count: 1 }, undefined],
		['a time that the record does not show', { ...shown, status: 'picked' }, pickedUp, undefined],
		[
			'a callback that nobody picked up',
			pickedUp,
			{ status: 'not_picked', retry_count: 1, call_picked_at: null },
			{ status: 'not_picked', retry_count: 1 },
		],
	])('%s: later than the pick-up of the record, or not', (_name, before, report, later) => {
		const hint = outcomeHint({ callId: ID, record: report, part: report }, OBSERVED_OUTCOMES);
		expect(laterOutcome(before, hint)).toEqual(later);
	});

	it('a record without a count has none', () => {
		const hint = { status: undefined, retries: 0, picked: undefined };
		expect(laterOutcome({ status: 'picked' }, hint)).toBeUndefined();
		expect(laterOutcome({ status: 'picked' }, { ...hint, retries: 1 })).toBeDefined();
	});
});

describe('whether a call has ended', () => {
	it.each<[string, JsonObject, boolean]>([
		['who ended it', { status: 'picked', call_picked_at: 'x', call_ended_by: 'agent' }, true],
		['why it ended', { status: 'voicemail', call_ended_reason: 'timeout' }, true],
		['why in words', { call_ended_reason_message: 'Hung up' }, true],
		['a summary', { status: 'picked', call_picked_at: 'x', summary: 'Wants a visit' }, true],
		['an analysis', { post_call_analysis: { sentiment: 'positive' } }, true],
		['an empty analysis', { post_call_analysis: {} }, false],
		[
			'an analysis that has no value yet',
			{ post_call_analysis: { sentiment: null, tags: [], scores: { mood: null } } },
			false,
		],
		['an analysis that says no', { post_call_analysis: { callback_required: false } }, true],
		['an outcome of a call never picked up', { status: 'not_picked' }, true],
		['an outcome of a call that broke off', { status: 'failed', call_picked_at: 'x' }, true],
		['picked while the person may still talk', { status: 'picked', call_picked_at: 'x' }, false],
		['picked, without the time of it', { status: 'picked' }, false],
		['a status of another kind', { status: 'ringing' }, false],
		['a busy line, by its reason', { status: 'busy', call_ended_reason: 'busy' }, true],
		['no status', { status: null }, false],
		['nothing at all', {}, false],
	])('%s', (_name, record, over) => {
		expect(hasEnded(record, OBSERVED_OUTCOMES)).toBe(over);
	});

	it('depends on the statuses in the list', () => {
		expect(hasEnded({ status: 'voicemail' }, OBSERVED_OUTCOMES)).toBe(false);
		expect(hasEnded({ status: 'voicemail', call_picked_at: 'x' }, ['voicemail'])).toBe(true);
		expect(hasEnded({ status: 'failed' }, ['voicemail'])).toBe(false);
		expect(hasEnded({}, ['voicemail'])).toBe(false);
	});
});

describe('filters', () => {
	const all = { status: [], agent_uuid: [], campaign_id: [] };
	const record = { call_id: ID, status: 'picked', campaign_id: 42, agent_uuid: 'agent_a' };

	it('accept every call if they are empty', () => {
		expect(isWanted({ call_id: ID }, all)).toBe(true);
	});

	it.each([
		[{ status: ['picked', 'failed'] }, true],
		[{ status: ['failed'] }, false],
		[{ campaign_id: ['42'] }, true],
		[{ campaign_id: ['4'] }, false],
		[{ agent_uuid: ['agent_a'], campaign_id: ['42'] }, true],
		[{ agent_uuid: ['agent_b'], campaign_id: ['42'] }, false],
	])('%p: %p', (filters, wanted) => {
		expect(isWanted(record, { ...all, ...filters })).toBe(wanted);
	});

	it('accept a call if one of its values matches', () => {
		const several = { status: ['ok', 'picked'] };
		expect(isWanted(several, { ...all, status: ['picked'] })).toBe(true);
		expect(isWanted(several, { ...all, status: ['failed'] })).toBe(false);
	});

	it('ignore values of the same name that were captured in the call', () => {
		const captured = { campaign_id: 42, agent_uuid: 'agent_a', status: 'picked' };
		const own = { status: null, campaign_id: null, data_captured: captured };
		for (const [field, value] of Object.entries(captured)) {
			expect(isWanted(own, { ...all, [field]: [String(value)] })).toBe(false);
		}
	});

	it('reject a call without the field', () => {
		expect(isWanted({ call_id: ID }, { ...all, campaign_id: ['undefined'] })).toBe(false);
	});

	it('are entered as a list', () => {
		expect(parseList(' picked, not_picked\nfailed ,,')).toEqual(['picked', 'not_picked', 'failed']);
	});
});
