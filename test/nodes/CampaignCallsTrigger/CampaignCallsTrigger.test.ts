import type { ICredentialDataDecryptedObject, INodeParameters } from 'n8n-workflow';
import { POLL_LIMITS } from '../../../nodes/CampaignCallsTrigger/pollCalls';
import { clock } from '../../../nodes/host/clock';
import { activate, engineHarness, makeWorkflow } from '../../engine';
import { fixtures } from '../../simulator';
import {
	ALL,
	DAY_MS,
	HOUR_MS,
	LAST_7_DAYS,
	recordOf,
	startingAt,
	watchedCalls,
} from './watchedCalls';

const { campaigns, agents } = fixtures;
// All dialects: test/contract/triggers.
const emptyAccount = engineHarness();
const service = watchedCalls();
const { simulator, faults, addCall, addEnded, endCall, showStatus } = service;
const { listOnly, requestsOf, pass, newTrigger, testEvent } = service;

/** What a story publishes the trigger with. */
const SETTINGS: { [name: string]: () => INodeParameters } = {
	// The calls of a campaign that end after the publication.
	'': () => ({}),
	'All Calls': () => ALL,
	'other campaign': () => ({ campaignId: campaigns.draft }),
	'Last 7 Days': () => LAST_7_DAYS,
	Date: () => startingAt(-HOUR_MS),
	'only failed': () => ({ filters: { statuses: 'failed' } }),
};

function settingsOf(names: string): INodeParameters {
	const chosen = names.split(' + ').map((name) => {
		const settings = SETTINGS[name];
		if (settings === undefined) throw new Error(`Unknown settings "${name}"`);
		return settings();
	});
	return chosen.reduce((all, settings) => ({ ...all, ...settings }), {});
}

/** Plays the steps of a story. Returns it with the calls with which each publication or check started the workflow. */
async function played(story: string, isDurable = false): Promise<string> {
	const trigger = newTrigger({ isDurable });
	const steps: string[] = [];
	for (const step of story.split(', ')) {
		const [action = ''] = step.split(':');
		const [verb = '', name = '', status = 'picked'] = action.split(' ');
		const acts: { [verb: string]: () => unknown } = {
			publish: async () => await trigger.publish(settingsOf(action.slice('publish '.length))),
			check: trigger.poll,
			restart: trigger.restart,
			rename: () => trigger.rename(name),
			'select-other-credential': trigger.selectOtherCredential,
			finish: async () => await trigger.changeCredential({ finishedStatuses: name }),
			end: async () => await addEnded(name, { outcome: { status } }),
			show: () => showStatus(name, status),
		};
		const act = acts[verb];
		if (act === undefined) throw new Error(`Unknown step "${step}"`);
		const found = await act();
		steps.push(Array.isArray(found) && found.length > 0 ? `${action}: ${found.join(' ')}` : action);
	}
	return steps.join(', ');
}

describe('calls start the workflow, each outcome once', () => {
	const STORIES = {
		'that end between checks': 'end a, publish, check, end b, end c, check: b c, check',
		'that end while n8n is down': 'publish, end a, check: a, end b, restart, check: b',
		'that end while it is unpublished': 'publish, end a, check: a, end b, publish: b, check',
		'if Date is chosen later': 'end a, publish, end b, check: b, publish Date: a, check',
		'if Last 7 Days is chosen later':
			'end a, publish, end b, check: b, publish Last 7 Days: a, publish Last 7 Days, end c, check: c',
		'with another campaign and back':
			'end a, publish Last 7 Days: a, publish Last 7 Days + other campaign, end b, publish Last 7 Days: b, publish Last 7 Days + other campaign',
		'with All Calls and back':
			'end a, publish Last 7 Days: a, publish Last 7 Days + All Calls, end b, publish Last 7 Days: b, publish Last 7 Days + All Calls',
		'with another start and back':
			'end a, publish Last 7 Days: a, publish, end b, publish Last 7 Days: b, publish',
		'with another credential, which may be of another account, only those that end later':
			'publish, end a, select-other-credential, publish, end b, check: b',
		'under another name, only those that end later, and back, all':
			'publish, end a, check: a, end b, rename x, publish, end c, check: c, rename Node, publish: b c',
		'that Filters excluded, if another start is chosen':
			'publish only failed, end a, check, end b failed, check: b, publish, publish Last 7 Days: a, check',
		'also those that had a status before the publication that Finished Statuses got later':
			'show a voicemail, publish, show b voicemail, check, finish voicemail, publish: a b, check',
	};
	it.each(Object.entries(STORIES))('%s', async (_which, story) => {
		expect(await played(story)).toBe(story);
	});

	it.each([
		'end a, publish, end b, check: b, check, end c, publish: c',
		'publish, end a, check: a, end b, publish All Calls, end c, check: c, check',
	])('although n8n keeps nothing that the node wrote at a publication: %s', async (story) =>
		expect(await played(story, true)).toBe(story),
	);

	it('that ended before n8n had stored the check at publication', async () => {
		const { publish, poll } = newTrigger({ isStoredLate: true });
		await addEnded('a');
		expect(await publish()).toEqual([]);
		await addEnded('b');
		expect(await poll()).toEqual(['b']);
	});

	it('that ended before n8n had stored the check at publication, also if the next one fails', async () => {
		const { publish, poll } = newTrigger({ isStoredLate: true });
		await publish();
		await addEnded('a');
		faults().respond(/campaign/, 403, { times: 1 });
		await expect(poll()).rejects.toMatchObject({ httpCode: '403' });
		expect(await poll()).toEqual(['a']);
	});

	it('if several checks run at the same time', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		await addEnded('a');
		const found = await Promise.all([poll(), poll(), poll()]);
		expect(found.flat()).toEqual(['a']);
	});

	it('with its record, and after a redial with the same call_id again, also if that lags behind the list', async () => {
		const { publish, records } = newTrigger();
		await publish({ output: 'raw' });
		await addEnded('a', { outcome: { status: 'not_picked', retry_count: 0 } });
		const [data] = await records();
		expect(data).toMatchObject({ status: 'not_picked', caller_name: 'Contact 0' });
		await endCall('a', { status: 'picked', retry_count: 1 });
		faults().respond(recordOf('a'), 200, { times: 1, body: { success: true, data } });
		expect(await records()).toEqual([]);
		expect(await records()).toMatchObject([{ status: 'picked', retry_count: 1 }]);
		expect(await records()).toEqual([]);
	});

	it('oldest first, also if the selected fields have no time', async () => {
		const { publish, records } = newTrigger();
		await publish({ output: 'selected', selectedFields: 'call_id, outcome, tag.id' });
		await addEnded('newer', { createdAt: clock.now() + HOUR_MS });
		await addEnded('older', { createdAt: clock.now() });
		const row = { outcome: 'Answered', 'tag.id': expect.any(Number) };
		expect(await records()).toEqual([
			{ call_id: 'older', ...row },
			{ call_id: 'newer', ...row },
		]);
	});

	it('of a contact list that the campaign got later, also if they ended before', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const lists = simulator().state.campaigns.get(campaigns.active)?.uploads ?? [];
		lists.push(...lists.slice(0, 1).map((list) => ({ ...list, id: 999_001 })));
		await addEnded('a', { uploadId: 999_001 });
		expect(await poll()).toEqual(['a']);
	});
});

describe('Start From', () => {
	it('Date: returns calls that were created at that time or later, once', async () => {
		await addEnded('old', { createdAt: clock.now() - HOUR_MS - 1 });
		await addEnded('exact', { createdAt: clock.now() - HOUR_MS });
		await addEnded('recent', { createdAt: clock.now() - 1 });
		const { publish, poll } = newTrigger();
		expect(await publish(startingAt(-HOUR_MS))).toEqual(['exact', 'recent']);
		expect(await poll()).toEqual([]);
		// Without times in the list, those of the records count.
		listOnly(['old', 'exact'].map((call_id) => ({ call_id })));
		expect(await newTrigger().publish({ ...ALL, ...startingAt(-HOUR_MS) })).toEqual(['exact']);
	});

	const localTime = new Date(Date.now() - 11 * HOUR_MS).toISOString().replace('Z', '');
	it.each([
		['Date', startingAt(-1_000)],
		['Last 7 Days', LAST_7_DAYS],
	])('%s: loses no call with an unreadable or local time', async (_what, start) => {
		const times = ['27.11.2026 10:00', 1795838400, null, localTime];
		for (const [at, created_at] of times.entries()) {
			const data = { call_id: await addEnded(`${at}`), summary: 'Yes', created_at };
			faults().respond(recordOf(data.call_id), 200, { body: { success: true, data } });
		}
		expect(await newTrigger().publish(start)).toHaveLength(times.length);
	});

	it('Last 7 Days: returns the calls of the week before it was first published, also weeks later', async () => {
		const weekAgo = clock.now() - 7 * DAY_MS;
		await addEnded('old', { createdAt: weekAgo - 1 });
		await addEnded('exact', { createdAt: weekAgo });
		const { publish, poll, restart } = newTrigger();
		expect(await publish(LAST_7_DAYS)).toEqual(['exact']);
		pass(30 * DAY_MS);
		// They ended, or were listed, later.
		await addEnded('late', { createdAt: weekAgo + 1 });
		restart();
		expect(await poll()).toEqual(['late']);
		await addEnded('later', { createdAt: weekAgo + 2 });
		expect(await publish(LAST_7_DAYS)).toEqual(['later']);
		// Another campaign has another week.
		await addEnded('too-old', { createdAt: weekAgo + 30 * DAY_MS - 1 });
		await addEnded('other', { createdAt: weekAgo + 30 * DAY_MS });
		expect(await publish({ ...LAST_7_DAYS, ...ALL })).toEqual(['other']);
	});

	it('Last 7 Days: begins at the same time for calls that one check left for the next', async () => {
		for (const at of [0, 1]) await addEnded(`${at}`, { createdAt: clock.now() - 7 * DAY_MS + at });
		jest.replaceProperty(POLL_LIMITS, 'calls', 1);
		const { publish, poll } = newTrigger();
		expect(await publish(LAST_7_DAYS)).toEqual(['0']);
		pass(HOUR_MS);
		expect(await poll()).toEqual(['1']);
	});
});

describe('Filters and Finished Statuses', () => {
	it('apply to All Calls, and an excluded call is read once', async () => {
		const { publish, poll } = newTrigger();
		await publish({ ...ALL, filters: { agentUuid: { __rl: true, mode: 'id', value: agents.us } } });
		await addEnded('other');
		await addEnded('own', { agentUuid: agents.us });
		expect(await poll()).toEqual(['own']);
		expect(await poll()).toEqual([]);
		expect(requestsOf(/^\/v1\/call\/other$/)).toBe(1);
	});

	it('Opted Out takes calls by their captured value', async () => {
		for (const dnc of ['yes', 'no', 'maybe']) {
			await addEnded(dnc, { outcome: { data_captured: { dnc, opt_out: 'yes' } } });
		}
		const key = { optOutKey: 'dnc' };
		const settingsFor = (optedOut: string) => ({ ...LAST_7_DAYS, filters: { optedOut } });
		const startedBy = async (optedOut: string) => {
			const { publish, changeCredential } = newTrigger();
			await changeCredential(key);
			return await publish(settingsFor(optedOut));
		};
		expect(await startedBy('true')).toEqual(['yes']);
		expect(await startedBy('null')).toEqual(['maybe']);
		const [test] = await testEvent(settingsFor('false'), key);
		expect(test).toMatchObject({ call_id: 'no', opted_out: false });
	});

	// A service may have a status by the name of an outcome.
	it.each([
		['Answered', 'picked Answered'],
		['not-picked', 'not_picked NotPicked'],
		['Not Answered or Failed', 'not_picked NotPicked failed Failed'],
		['not answered or failed, Hung Up', 'not_picked NotPicked failed Failed hung_up'],
		["={{ ['hung_up', 'Answered'] }}", 'picked Answered hung_up'],
	])('Statuses: %s takes calls with the statuses %s', async (statuses, taken) => {
		const all = 'picked Answered not_picked NotPicked failed Failed hung_up other'.split(' ');
		for (const status of all) await addEnded(status, { outcome: { status } });
		const filters = { statuses: { __rl: true, mode: 'list', value: statuses } };
		const found = await newTrigger().publish({ ...LAST_7_DAYS, filters });
		expect(found.join(' ')).toBe(taken);
	});

	it.each<[string, ICredentialDataDecryptedObject, INodeParameters, string[]]>([
		['the documented ones', {}, {}, ['not_picked', 'failed', 'Failed']],
		['those of Finished Statuses', { finishedStatuses: 'Failed' }, {}, ['failed', 'Failed']],
		[
			'those of Statuses',
			{ finishedStatuses: '' },
			{ filters: { statuses: 'picked, BUSY' } },
			['busy'],
		],
	])(
		'%s are those of completed calls, but picked needs a sign of the end',
		async (_which, fields, parameters, ended) => {
			const { publish, poll, changeCredential } = newTrigger();
			await changeCredential(fields);
			await publish(parameters);
			const all = ['picked', 'not_picked', 'failed', 'Failed', 'busy', 'ringing'];
			for (const status of all) showStatus(status, status);
			expect(await poll()).toEqual(ended);
			await endCall('picked', { status: 'picked' });
			expect(await poll()).toEqual(['picked']);
		},
	);
});

describe('a test event', () => {
	/** Ended calls with these statuses, and captured values for those in upper case, from the oldest to the newest. */
	const addCalls = async (...statuses: string[]) => {
		for (const [at, status] of statuses.entries()) {
			const captured =
				status === status.toUpperCase() ? { visit_day: 'Monday' } : { visit_day: null };
			await addEnded(`call-${at}`, { outcome: { status, data_captured: captured } });
		}
	};
	const missed = Array<string>(20).fill('not_picked');

	it('is the newest answered call with captured values, so that they can be mapped', async () => {
		await addCalls('PICKED', 'PICKED', 'NOT_PICKED', ...missed, 'picked');
		expect(await testEvent()).toMatchObject([{ call_id: 'call-1', captured_visit_day: 'Monday' }]);
	});

	it('is the newest completed call if none has captured values, or the others cannot be read', async () => {
		await addCalls(...missed, 'failed');
		addCall('in-progress');
		expect(await testEvent()).toMatchObject([{ call_id: 'call-20' }]);
		faults().respond(/^\/v1\/call\/call-1?\d$/, 503);
		expect(await testEvent()).toMatchObject([{ call_id: 'call-20' }]);
		faults().respond(recordOf('call-20'), 503);
		await expect(testEvent()).rejects.toThrow('503');
	});

	it('matches the filters and has what is included, and is one of the first 100 calls', async () => {
		await addCalls('PICKED', 'PICKED');
		const body = { success: false, error: 'call_not_found' };
		faults().respond(recordOf('call-1'), 404, { body });
		expect(await testEvent({ include: ['transcript'] })).toMatchObject([
			{ call_id: 'call-0', transcript: expect.any(Array) },
		]);
		await expect(testEvent({ filters: { statuses: 'none of these' } })).rejects.toMatchObject({
			message: 'No completed call matches',
			description:
				"Look at 'Calls to Check' and 'Filters'. If no call was placed yet, place one, and test again when it's completed.",
		});
		listOnly(Array.from({ length: 101 }, (_, at) => ({ call_id: `unknown-${at}` })));
		await expect(testEvent()).rejects.toThrow('No completed call matches');
		expect(requestsOf(/^\/v1\/call\/unknown-\d+$/)).toBe(100);
	});
});

it.each<[INodeParameters, string]>([
	[{ campaignId: 'spring' }, "'Campaign' must be a whole number"],
	[{ startFrom: 'soon' }, "'Start From'"],
	[{ startFrom: 'date', startDate: 'soon' }, `'Start Date' must be a date (got "soon")`],
	[{ startFrom: 'date', startDate: '' }, `'Start Date' must be a date (got "")`],
	[
		{ filters: { campaignIds: '999' } },
		`'Campaign IDs' in 'Filters' excludes each call of campaign ${campaigns.active}`,
	],
	// Without a profile.
	[{}, 'lacks "calls"'],
])('%j is not published with an empty credential', async (parameters, message) => {
	const pollTimes = { item: [{ mode: 'everyMinute' }] };
	const form = { campaignId: campaigns.active, pollTimes, ...parameters };
	const node = emptyAccount.node('campaignCallsTrigger', { parameters: form });
	await expect(activate(makeWorkflow([node]))).rejects.toThrow(message);
});
