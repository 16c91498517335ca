import {
	currentState,
	progressBetween,
	PROGRESS_EVENTS,
	type Reading,
	readingOf,
	storedReading,
} from '../../../nodes/CampaignProgressTrigger/campaignProgress';
import { viewCampaign } from '../../../nodes/shared/campaign';
import type { JsonObject, JsonValue } from '../../../nodes/shared/json';

const SUBJECT = 'https://voice.example.com#7';

const answer = (over: JsonObject = {}): JsonObject => ({
	campaign: { id: 7, name: 'Leads', status: 'Active' },
	calls: { total: 10, by_status: { picked: 6, failed: 4 } },
	uploads: [upload(1, [false])],
	...over,
});
const upload = (
	id: number,
	completed: boolean[],
	agents = ['agent_a', 'agent_b'],
	queued: number | null = 5,
): JsonValue => ({
	campaign_upload_id: id,
	file_name: `list_${id}.csv`,
	queues: completed.map((done, i) => ({
		agent_uuid: agents[i] ?? 'agent_z',
		total_queued: queued,
		completed: done,
	})),
});

/** Polls with each of these responses, and returns the events of each poll. */
function follow(...answers: JsonObject[]): string[][] {
	let last: Reading | undefined;
	return answers.map((json) => {
		const view = viewCampaign(json);
		const before = last;
		last = readingOf(SUBJECT, 0, view, before);
		if (before === undefined) return [];
		const events = progressBetween(before, last, view, PROGRESS_EVENTS);
		return events.map(({ event }) => JSON.stringify(event));
	});
}

/** The events between the responses. */
function between(
	first: JsonObject,
	second: JsonObject,
	kinds: Parameters<typeof progressBetween>[3] = PROGRESS_EVENTS,
) {
	const before = readingOf(SUBJECT, 0, viewCampaign(first));
	const view = viewCampaign(second);
	return progressBetween(before, readingOf(SUBJECT, 1, view, before), view, kinds);
}
const STATUS = '"status_changed"';
const QUEUE = '"queue_completed"';
const COUNTS = '"call_counts_changed"';

describe('what counts as an event', () => {
	const paused = answer({ campaign: { id: 7, status: 'Paused' } });
	const done = answer({ uploads: [upload(1, [true])] });
	const filled = answer({ uploads: [upload(1, [true], ['agent_a'], 8)] });
	const emptied = answer({ uploads: [upload(1, [true], ['agent_a'], 0)] });
	const calls = { total: 12, by_status: { picked: 8, failed: 4 } };
	const redialing = answer({ calls });
	const redialed = answer({ calls, uploads: [upload(1, [true])] });
	const uncounted = answer({
		uploads: [{ campaign_upload_id: 1, queues: [{ agent_uuid: 'agent_a', completed: true }] }],
	});
	const nullCounted = answer({ uploads: [upload(1, [true], ['agent_a'], null)] });

	test.each<[string, JsonObject[], string[][]]>([
		['nothing', [answer(), answer()], [[], []]],
		['a status', [answer(), paused, paused], [[], [STATUS], []]],
		['there and back again', [answer(), paused, answer()], [[], [STATUS], [STATUS]]],
		[
			'a status that the response lacks once',
			[answer(), answer({ campaign: {} }), answer()],
			[[], [], []],
		],
		['a queue', [answer(), done, done], [[], [QUEUE], []]],
		['a queue that is completed at the first poll', [done, done], [[], []]],
		[
			'a list that appears completed',
			[answer(), answer({ uploads: [upload(1, [false]), upload(2, [true])] })],
			[[], [QUEUE]],
		],
		[
			'one of two queues, then the other',
			[
				answer({ uploads: [upload(1, [false, false])] }),
				answer({ uploads: [upload(1, [true, false])] }),
				answer({ uploads: [upload(1, [true, true])] }),
			],
			[[], [QUEUE], [QUEUE]],
		],
		[
			'two queues of the same agent',
			[
				answer({ uploads: [upload(1, [true, false], ['agent_a', 'agent_a'])] }),
				answer({ uploads: [upload(1, [true, true], ['agent_a', 'agent_a'])] }),
			],
			[[], [QUEUE]],
		],
		[
			'each of three queues of the same agent',
			[
				answer({ uploads: [upload(1, [false, false, false], ['agent_a', 'agent_a', 'agent_a'])] }),
				answer({ uploads: [upload(1, [false, true, false], ['agent_a', 'agent_a', 'agent_a'])] }),
				answer({ uploads: [upload(1, [false, true, true], ['agent_a', 'agent_a', 'agent_a'])] }),
			],
			[[], [QUEUE], [QUEUE]],
		],
		['a completed list that is missing once', [done, answer({ uploads: [] }), done], [[], [], []]],
		['a completed queue whose count is missing once', [done, uncounted, done], [[], [], []]],
		['a completed queue whose count is null once', [done, nullCounted, done], [[], [], []]],
		['a completed queue whose count is missing at first', [uncounted, done, done], [[], [], []]],
		[
			'a completed queue with a higher count than before it was missing',
			[done, uncounted, filled],
			[[], [], [QUEUE]],
		],
		[
			'a queue that is in progress again',
			[done, answer(), answer(), done, done],
			[[], [], [], [QUEUE], []],
		],
		['a queue that is filled and completed again', [done, answer(), filled], [[], [], [QUEUE]]],
		['a queue whose count shows what is left', [emptied, answer(), emptied], [[], [], [QUEUE]]],
		[
			'a queue that is completed again after redials',
			[done, answer(), redialed, answer(), redialed],
			[[], [], [QUEUE, COUNTS], [COUNTS], [QUEUE, COUNTS]],
		],
		[
			'a queue that is completed again after redials that were seen before',
			[done, redialing, redialed],
			[[], [COUNTS], [QUEUE]],
		],
		['a completed queue while others are in progress', [done, redialed], [[], [COUNTS]]],
		[
			'the total of calls alone',
			[answer(), answer({ calls: { total: 12, by_status: { picked: 6, failed: 4 } } })],
			[[], [COUNTS]],
		],
		[
			'a total that the response lacks once',
			[answer(), answer({ calls: { by_status: { picked: 6, failed: 4 } } }), answer()],
			[[], [], []],
		],
		[
			'counts',
			[answer(), answer({ calls: { total: 11, by_status: { picked: 7, failed: 4 } } })],
			[[], [COUNTS]],
		],
		[
			'a status key of its own',
			[answer(), answer({ calls: { total: 10, by_status: { picked: 6, failed: 3, busy: 1 } } })],
			[[], [COUNTS]],
		],
		[
			'a queue that moves behind that of another agent',
			[
				answer({ uploads: [upload(1, [true], ['agent_a'])] }),
				answer({ uploads: [upload(1, [false, true], ['agent_b', 'agent_a'])] }),
			],
			[[], []],
		],
		[
			'what the first response lacks',
			[answer({ calls: null, campaign: {}, uploads: null }), answer(), paused],
			[[], [], [STATUS]],
		],
		[
			'counts that the response lacks once',
			[answer(), answer({ calls: null }), answer()],
			[[], [], []],
		],
	])('%s', (_name, answers, events) => {
		expect(follow(...answers)).toEqual(events);
	});

	test('returns only the selected types', () => {
		const both = { ...done, campaign: { id: 7, status: 'Paused' } };
		expect(between(answer(), both, ['queue_completed'])).toMatchObject([
			{ event: 'queue_completed', campaign_upload_id: 1, file_name: 'list_1.csv' },
		]);
	});
});

describe('the events', () => {
	test('include the campaign and its counts', () => {
		const moved = answer({ calls: { total: 12, by_status: { picked: 8, failed: 4 } } });
		expect(between(answer(), moved)).toEqual([
			{
				event: 'call_counts_changed',
				total: { from: 10, to: 12 },
				by_status: { picked: { from: 6, to: 8 } },
				campaign: { id: 7, name: 'Leads', status: 'Active' },
				calls: { total: 12, by_status: { picked: 8, failed: 4 } },
			},
		]);
	});

	test('show whether the whole list of a queue is completed', () => {
		const halves = [
			answer({ uploads: [upload(1, [false, false])] }),
			answer({ uploads: [upload(1, [true, false])] }),
			answer({ uploads: [upload(1, [true, true])] }),
		];
		const events = halves
			.slice(1)
			.flatMap((half, index) => between(halves[index] ?? half, half, ['queue_completed']));
		expect(events).toMatchObject([
			{ list_completed: false, queue: { agent_uuid: 'agent_a' } },
			{ list_completed: true, queue: { agent_uuid: 'agent_b' } },
		]);
	});

	test('the current state includes everything', () => {
		expect(currentState(viewCampaign(answer()))).toEqual({ event: 'current_state', ...answer() });
	});
});

describe('the stored reading', () => {
	test('is unchanged after it was stored', () => {
		const reading = readingOf(
			SUBJECT,
			1,
			viewCampaign(answer({ uploads: [upload(1, [true]), upload(2, [true], ['a'], null)] })),
		);
		const stored: unknown = JSON.parse(JSON.stringify(reading));
		expect(storedReading(stored, SUBJECT)).toEqual(reading);
	});

	test.each([undefined, null, 'x', {}, { subject: 'https://voice.example.com#8' }])(
		'%p is not a reading of this campaign',
		(stored) => expect(storedReading(stored, SUBJECT)).toBeUndefined(),
	);
});

test('a queue that gets contacts and is completed between two polls is reported', () => {
	const completed = (queued: number) =>
		answer({ uploads: [upload(1, [true], ['agent_a'], queued)] });
	const both = follow(completed(5), completed(9), completed(9));
	expect(both).toEqual([[], [QUEUE], []]);
});

test("a response without counts by status doesn't change them", () => {
	const partly = answer({ calls: { total: 10 } });
	expect(follow(answer(), partly, answer())).toEqual([[], [], []]);
});

test('a queue that is completed again is reported, also if a response in between had no counts', () => {
	const done = (total: number) =>
		answer({ calls: { total, by_status: { picked: total } }, uploads: [upload(1, [true])] });
	const busy = (total: number) => answer({ calls: { total, by_status: { picked: total } } });
	const { calls: _calls, ...withoutCalls } = done(10);
	const events = follow(done(10), withoutCalls, busy(12), done(14));
	expect(events.at(-1)).toContain(QUEUE);
});
