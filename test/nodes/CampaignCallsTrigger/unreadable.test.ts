import type { INodeParameters } from 'n8n-workflow';
import { ApiClient } from '../../../nodes/core/service/client';
import { POLL_LIMITS } from '../../../nodes/CampaignCallsTrigger/pollCalls';
import range from 'lodash/range';
import { z } from 'zod';
import { eventually, untilIdle } from '../../n8n/until';
import { holdTimeouts } from '../../engine';
import { fixtures } from '../../simulator';
import { ALL, DAY_MS, LIST, RECORD, recordOf, startingAt, watchedCalls } from './watchedCalls';

const { campaigns, uploads } = fixtures;
const BOTH_LISTS = [uploads.running, uploads.completed];
const STATUS = /\/status$/;
const service = watchedCalls();
const { faults, addCall, addEnded, addManyEnded, listOnly, requestsOf, pass, newTrigger } = service;
/** Checks, which read in any order, until they have found as many calls. Those that they have found, sorted. */
const foundBy = async (check: () => Promise<string[]>, count: number) => {
	const found: string[] = [];
	for (let checks = 0; checks < 40 && found.length < count; checks++)
		found.push(...(await check()));
	return found.sort();
};
const asError = (error: unknown) => z.instanceof(Error).parse(error);

describe('if something cannot be read', () => {
	it('the other calls start the workflow in order, that one later, and meanwhile the check fails', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const added = await addManyEnded(12);
		const [unreadable = '', ...others] = added;
		faults().respond(recordOf(unreadable), 400);
		expect(await poll()).toEqual(others);
		await expect(poll()).rejects.toThrow(`Call "${unreadable}" can't be read`);
		faults().clear();
		expect(await poll()).toEqual([unreadable]);
	});

	it('that it can never be read ends each check with an error, until Start From is a later date, as the message says', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		faults().respond(recordOf(await addEnded('broken')), 403);
		const advice = expect.stringMatching(/fails .* If the call can never be read, choose 'Date'/);
		await expect(poll()).rejects.toMatchObject({ description: advice });
		await expect(poll()).rejects.toMatchObject({ description: advice });
		expect(await publish(startingAt(DAY_MS))).toEqual([]);
		expect(await poll()).toEqual([]);
	});

	it('the other calls start the workflow although the package itself fails at one', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const [odd = '', ...others] = await addManyEnded(3);
		const spy = jest.spyOn(ApiClient.prototype, 'send');
		const send = spy.getMockImplementation();
		spy.mockImplementation(async function (this: ApiClient, request, ...more) {
			if (send === undefined || request.path === recordOf(odd))
				throw new TypeError('of the package');
			return await send.call(this, request, ...more);
		});
		expect(await poll()).toEqual(others);
		await expect(poll()).rejects.toThrow('of the package');
	});

	it('of many calls, the others start the workflow although the service fails for long', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const added = await addManyEnded(20);
		const others = added.splice(10, 2);
		for (const id of added) faults().respond(recordOf(id), 503);
		const check = async () => await poll().catch(() => []);
		expect(await foundBy(check, others.length)).toEqual(others.sort());
	});

	it('of two contact lists, the calls of the other one start the workflow', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		for (const uploadId of BOTH_LISTS) await addEnded(`${uploadId}`, { uploadId });
		pass(2 * 3_600_000);
		faults().respond(LIST, 422, { times: 1 });
		expect(await poll()).toHaveLength(1);
		expect(await poll()).toHaveLength(1);
	});

	it('of a campaign whose contact list has no ID, the calls of others start nothing', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		await addEnded('of-another-campaign', { uploadId: 999 });
		const campaign = { id: campaigns.active, status: 'Active' };
		const data = { campaign, uploads: [{ file_name: 'leads.csv', queues: [] }] };
		faults().respond(STATUS, 200, { body: { success: true, data } });
		await expect(poll()).rejects.toThrow(
			'A contact list of the campaign has no campaign_upload_id',
		);
		faults().clear();
		expect(await poll()).toEqual([]);
	});

	it('of a campaign whose status lacks its contact lists, no call that ended before the publication starts the workflow', async () => {
		const { publish, poll } = newTrigger();
		await addEnded('before');
		const campaign = { id: campaigns.active, status: 'Active' };
		const data = { campaign, calls: { total: 1 } };
		faults().respond(STATUS, 200, { body: { success: true, data } });
		await expect(publish()).rejects.toThrow('The status of the campaign has no contact lists');
		faults().clear();
		expect(await publish()).toEqual([]);
		expect(await poll()).toEqual([]);
	});

	it('of All Calls, the error is that of the call list, which has no name', async () => {
		const { publish, poll } = newTrigger();
		await publish(ALL);
		faults().respond(LIST, 422, { body: { success: false, errors: ['Not now'] } });
		await expect(poll()).rejects.toThrow(/^The service rejected the request$/);
		faults().clear();
		await addEnded('a');
		expect(await poll()).toEqual(['a']);
	});

	it.each([
		['contact list', LIST, 401, {}, { cause: 'credential-invalid' }],
		['call', RECORD, 401, {}, { cause: 'credential-invalid' }],
		[
			'call',
			RECORD,
			429,
			{ 'Retry-After': '120' },
			{ cause: 'rate-limited', retryAfterMs: 120_000 },
		],
		['call', RECORD, 422, {}, { cause: 'temporarily-unavailable' }],
	])(
		'the error names the %s, and tells n8n the reason (%s, %i)',
		async (what, path, status, headers, failure) => {
			const { publish, poll } = newTrigger();
			await publish();
			await addEnded('a');
			faults().respond(path, status, { body: { success: false, errors: ['No'] }, headers });
			await expect(poll()).rejects.toMatchObject({
				message: expect.stringMatching(new RegExp(`^${what} .* can't be read\\.`, 'i')),
				httpCode: String(status),
				failure,
			});
		},
	);
});

describe('is not published', () => {
	it.each([{}, ALL])('with %j if the first reading fails', async (parameters) => {
		faults().respond(LIST, 503);
		await expect(newTrigger().publish(parameters)).rejects.toThrow('503');
	});

	it('if the record of a listed call cannot be read, unless it was created before Start From', async () => {
		listOnly([{ call_id: 'broken', created_at: new Date(Date.now() - 60_000).toISOString() }]);
		faults().respond(recordOf('broken'), 400, {
			body: { success: false, error: 'Cannot be shown' },
		});
		await expect(newTrigger().publish()).rejects.toMatchObject({
			message: `Call "broken" can't be read. The service rejected the request`,
			description: expect.stringMatching(
				/choose 'Date' in 'Start From', with a later time.*"?Cannot be shown/s,
			),
		});
		expect(await newTrigger().publish(startingAt(0))).toEqual([]);
	});

	it.each([{}, { call_id: true }, { call_id: 'a b' }])(
		'if the calls of the list are like %j',
		async (call) => {
			listOnly([call]);
			await expect(newTrigger().publish()).rejects.toThrow(
				'No entry of the call list has a call_id',
			);
		},
	);
});

describe('more calls than one check reads', () => {
	beforeEach(() => jest.replaceProperty(POLL_LIMITS, 'calls', 10));

	it('as many start the workflow, and the next check continues', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const calls = await addManyEnded(12);
		const first = await poll();
		expect(first).toHaveLength(10);
		expect([...first, ...(await poll())].sort()).toEqual(calls.sort());
		expect(await poll()).toEqual([]);
	});

	it('a listed call that the service does not find fails no check, and starts the workflow once it does', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const late = await addEnded('late');
		faults().respond(recordOf(late), 404, {
			body: { success: false, error: 'call_not_found' },
		});
		// Also when its list is read only once an hour.
		for (const hours of [0, 2, 2]) {
			pass(hours * 3_600_000);
			expect(await poll()).toEqual([]);
		}
		faults().clear();
		expect(await poll()).toEqual([late]);
	});

	it('the others start the workflow although many never end, or their records are gone', async () => {
		const { publish, poll } = newTrigger();
		await publish(ALL);
		const [gone = '', ...ended] = await addManyEnded(3);
		const body = { success: false, error: 'call_not_found' };
		faults().respond(recordOf(gone), 404, { body });
		const endless = range(10).map((at) => addCall(`endless-${at}`));
		// The list shows no ends, so each record is read.
		listOnly([gone, ...endless, ...ended].map((call_id) => ({ call_id })));
		expect(await foundBy(poll, ended.length)).toEqual(ended);
	});
});

describe('a check that n8n ends after 36 seconds', () => {
	const BUDGET_MS = 36_000;
	let timeIsUp: (ms: number) => void;
	beforeEach(() => {
		timeIsUp = holdTimeouts();
	});
	const publishedOnTime = async (parameters: INodeParameters = {}) => {
		const { publish, poll } = newTrigger({ budgetMs: BUDGET_MS });
		await publish(parameters);
		return poll;
	};

	/** A check whose time is up at the first request to a path after as many as given. Returns its calls or its error. */
	const pollUntil = async (poll: () => Promise<string[]>, path: RegExp, requests: number) => {
		faults().inject({ kind: 'hang', match: { path }, skip: requests });
		const before = requestsOf(path);
		const polling = poll().catch(asError);
		await eventually(() => requestsOf(path) > before + requests);
		pass(BUDGET_MS);
		timeIsUp(BUDGET_MS);
		const found = await polling;
		faults().clear();
		// A request that was on its way would count for the next check.
		await untilIdle();
		return found;
	};
	const NOT_COMPLETE = "The check wasn't complete after 36 seconds";

	it('the calls that it has read in time start the workflow, and later the others', async () => {
		const poll = await publishedOnTime();
		const calls = await addManyEnded(12);
		// Ten are read at the same time.
		const first = await pollUntil(poll, RECORD, 10);
		if (first instanceof Error) throw first;
		expect(first.length).toBeGreaterThan(0);
		expect([...first, ...(await poll())].sort()).toEqual(calls.sort());
	});

	it('the calls of the lists that it has read in time start the workflow, and later those of the others', async () => {
		// A list with a call in progress is read by each check.
		for (const uploadId of BOTH_LISTS) addCall(`endless-${uploadId}`, { uploadId });
		const poll = await publishedOnTime();
		for (const uploadId of BOTH_LISTS) await addEnded(`${uploadId}`, { uploadId });
		const check = async () => {
			const found = await pollUntil(poll, LIST, 1);
			// A list that had no time isn't a failure.
			if (found instanceof Error) throw found;
			return found;
		};
		expect(await foundBy(check, 2)).toEqual(BOTH_LISTS.map(String).sort());
	});

	it('the calls of a list start the workflow although another one is too slow, which is named when it had the whole time', async () => {
		// More than one page.
		for (let at = 0; at < 30; at++) addCall(`endless-${at}`, { uploadId: uploads.completed });
		const poll = await publishedOnTime();
		await addEnded('in-time');
		const found: string[] = [];
		const messages = new Set<string>();
		for (let check = 0; check < 40 && (found.length === 0 || messages.size === 0); check++) {
			const ofCheck = await pollUntil(poll, LIST, 1);
			if (ofCheck instanceof Error) messages.add(ofCheck.message);
			else found.push(...ofCheck);
		}
		expect(found).toEqual(['in-time']);
		expect([...messages]).toEqual([
			`Contact list ${uploads.completed} can't be read. ${NOT_COMPLETE}`,
		]);
	});

	it.each([
		['the call list', ALL, LIST],
		['the campaign', {}, STATUS],
	])('says so if it could not read %s in time', async (_what, parameters, path) => {
		const poll = await publishedOnTime(parameters);
		expect(asError(await pollUntil(poll, path, 0)).message).toBe(NOT_COMPLETE);
	});

	it.each([
		['list', LIST, 1],
		['record', RECORD, 0],
	])('fails if it is the first one and ends before the last %s', async (what, path, requests) => {
		// The list shows no ends.
		if (what === 'record') listOnly([{ call_id: await addEnded('a') }]);
		const first = async () => {
			await publishedOnTime();
			return [];
		};
		expect(asError(await pollUntil(first, path, requests)).message).toBe(NOT_COMPLETE);
	});
});
