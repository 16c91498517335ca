import {
	isReadingOf,
	progressBetween,
	type Reading,
	readingOf,
} from '../../../nodes/CampaignProgressTrigger/campaignProgress';
import { viewCampaign } from '../../../nodes/shared/campaign';
import type { JsonObject, JsonValue } from '../../../nodes/shared/json';
import { plainText } from '../../../nodes/shared/values';

const SUBJECT = 'https://voice.example.com#7';
const STORED = { subject: SUBJECT, status: null, total: null, byStatus: {}, completed: {} };
const TYPES = ['status_changed', 'queue_completed', 'call_counts_changed'];
const [STATUS = '', QUEUE = '', COUNTS = ''] = TYPES;

/** A contact list with a queue for each agent. */
const list = (completed: boolean[], agents = ['a', 'b'], queued = 5): JsonValue => ({
	campaign_upload_id: 1,
	file_name: 'list_1.csv',
	queues: completed.map((done, i) => ({
		agent_uuid: agents[i] ?? 'z',
		total_queued: queued,
		completed: done,
	})),
});
const counts = (total: number, by_status: JsonObject = { picked: total }) => ({
	calls: { total, by_status },
});
const lists = (...uploads: JsonValue[]) => ({ uploads });
const response = (over: JsonObject = {}): JsonObject => ({
	campaign: { id: 7, name: 'Leads', status: 'Active' },
	...counts(10),
	...lists(list([false])),
	...over,
});

/** Polls with each of these responses, and returns the events of each poll. Each reading is stored, as n8n does. */
function follow(responses: JsonObject[], types = TYPES): JsonObject[][] {
	let last: Reading | undefined;
	return responses.map((json) => {
		const view = viewCampaign(json);
		const stored: unknown = JSON.parse(JSON.stringify(last ?? null));
		const before = isReadingOf(SUBJECT, stored) ? stored : undefined;
		expect(before).toEqual(last);
		last = readingOf(SUBJECT, view, before);
		return before === undefined ? [] : progressBetween(before, last, view, types);
	});
}

const usual = response();
const paused = response({ campaign: { id: 7, status: 'Paused' } });
const oneQueue = (completed: boolean, queued = 5) =>
	response(lists(list([completed], ['a'], queued)));
const done = oneQueue(true);
const redialed = response({ ...counts(12), ...lists(list([true])) });
const twoQueues = (...completed: boolean[]) => response(lists(list(completed)));
const sameAgent = (...completed: boolean[]) => response(lists(list(completed, ['a', 'a', 'a'])));
const { calls: _calls, ...doneWithoutCalls } = done;
const otherList = { campaign_upload_id: 2, queues: [{ agent_uuid: 'a', completed: true }] };

const newList = response(lists(list([false]), otherList));
const movedQueue = response(lists(list([false, true], ['b', 'a'])));
const one = twoQueues(true, false);
const middle = sameAgent(false, true, false);
const noCampaign = response({ campaign: {} });
const noLists = response(lists());
const noQueues = response(lists({ campaign_upload_id: 1, file_name: 'list_1.csv' }));
const noTotal = response({ calls: { by_status: { picked: 10 } } });
const noStatuses = response({ calls: { total: 10 } });
const noCalls = response({ calls: null });
const empty = response({ calls: null, campaign: {}, uploads: null });
const higherTotal = response(counts(12, { picked: 10 }));
const otherCounts = response(counts(10, { picked: 9, busy: 1 }));

/** The events of each poll. */
test.each<[string, JsonObject[], string[]]>([
	['nothing', [usual, usual], ['', '']],
	['a status', [usual, paused, paused], ['', STATUS, '']],
	['there and back again', [usual, paused, usual], ['', STATUS, STATUS]],
	['a status that is missing once', [usual, noCampaign, usual], ['', '', '']],
	['a queue', [usual, done, done], ['', QUEUE, '']],
	['a queue that is completed at the first poll', [done, done], ['', '']],
	['a list that appears completed', [usual, newList], ['', QUEUE]],
	[
		'one of two queues, then the other',
		[twoQueues(false, false), one, twoQueues(true, true)],
		['', QUEUE, QUEUE],
	],
	[
		'each of three queues of the same agent',
		[sameAgent(false, false, false), middle, sameAgent(false, true, true)],
		['', QUEUE, QUEUE],
	],
	['a queue that moves behind that of another agent', [done, movedQueue], ['', '']],
	[
		'a queue that moves behind another one of its agent',
		[sameAgent(true, false, false), middle],
		['', ''],
	],
	['a completed list that is missing once', [done, noLists, done], ['', '', '']],
	['a completed list without its queues once', [done, noQueues, done], ['', '', '']],
	['a higher count', [done, oneQueue(true, 9), oneQueue(true, 9)], ['', QUEUE, '']],
	['a queue in progress again', [done, usual, usual, done, done], ['', '', '', QUEUE, '']],
	['a count of what is left', [oneQueue(true, 0), usual, oneQueue(true, 0)], ['', '', QUEUE]],
	[
		'a queue that is completed again after redials',
		[done, usual, redialed, usual, redialed],
		['', '', `${QUEUE} ${COUNTS}`, COUNTS, `${QUEUE} ${COUNTS}`],
	],
	[
		'a queue that is completed again, with a response without counts in between',
		[done, doneWithoutCalls, response(counts(12)), redialed],
		['', '', COUNTS, QUEUE],
	],
	['a completed queue while others are in progress', [done, redialed], ['', COUNTS]],
	['the total alone', [usual, higherTotal], ['', COUNTS]],
	['a status of a call', [usual, otherCounts], ['', COUNTS]],
	['a total that is missing once', [usual, noTotal, usual], ['', '', '']],
	['counts by status that are missing once', [usual, noStatuses, usual], ['', '', '']],
	['counts that are missing once', [usual, noCalls, usual], ['', '', '']],
	['what the first response lacks', [empty, usual, paused], ['', '', STATUS]],
])('%s', (_name, responses, expected) => {
	const events = follow(responses).map((poll) => poll.map(({ event }) => plainText(event)));
	expect(events.map((poll) => poll.join(' '))).toEqual(expected);
});

test('the events include the campaign, its counts, and the queue', () => {
	const later = response({ ...counts(12, { picked: 12 }), ...lists(list([true, false])) });
	const { campaign, calls } = later;
	expect(follow([twoQueues(false, false), later])[1]).toEqual([
		{
			event: 'queue_completed',
			campaign_upload_id: 1,
			file_name: 'list_1.csv',
			list_completed: false,
			queue: { agent_uuid: 'a', total_queued: 5, completed: true },
			campaign,
			calls,
		},
		{
			event: 'call_counts_changed',
			total: { from: 10, to: 12 },
			by_status: { picked: { from: 10, to: 12 } },
			campaign,
			calls,
		},
	]);
	const last = follow([twoQueues(true, false), twoQueues(true, true)])[1];
	expect(last).toMatchObject([{ list_completed: true, queue: { agent_uuid: 'b' } }]);
});

test.each([undefined, null, 'x', {}, { ...STORED, subject: 'x' }, { ...STORED, completed: [] }])(
	'%p is not a reading of this campaign',
	(stored) => expect(isReadingOf(SUBJECT, stored)).toBe(false),
);
