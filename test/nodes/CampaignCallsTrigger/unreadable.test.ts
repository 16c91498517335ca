import type { INodeParameters } from 'n8n-workflow';
import { POLL_LIMITS } from '../../../nodes/CampaignCallsTrigger/pollCalls';
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

	it('of many calls, the others start the workflow although the service fails for long', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const added = await addManyEnded(20);
		// Whether a check begins with the oldest or the newest calls, it begins with unreadable ones.
		const others = added.splice(10, 2);
		for (const id of added) faults().respond(recordOf(id), 503);
		const found: string[] = [];
		for (let polls = 0; polls < 40 && found.length < others.length; polls++) {
			found.push(...(await poll().catch(() => [])));
		}
		expect(found.sort()).toEqual(others.sort());
	});

	it('of two contact lists, the calls of the other one start the workflow', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		for (const uploadId of BOTH_LISTS) await addEnded(`${uploadId}`, { uploadId });
		faults().respond(LIST, 422, { times: 1 });
		const first = await poll();
		expect(first).toHaveLength(1);
		expect([...first, ...(await poll())].sort()).toEqual(BOTH_LISTS.map(String).sort());
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
		['contact list', LIST, 401],
		['call', RECORD, 429],
	])('the error names the %s, and has the status by which n8n waits (%s, %i)', async (...one) => {
		const [what, path, status] = one;
		const { publish, poll } = newTrigger();
		await publish();
		await addEnded('a');
		faults().respond(path, status, { body: { success: false, errors: ['No'] } });
		await expect(poll()).rejects.toMatchObject({
			message: expect.stringMatching(new RegExp(`^${what} .* can't be read\\.`, 'i')),
			httpCode: String(status),
		});
	});
});

describe('is not published', () => {
	it("with 'Execute Once', because n8n would drop all calls of a check but the first", async () => {
		await expect(newTrigger({ executeOnce: true }).publish()).rejects.toThrow(
			"'Execute Once' in the settings of this trigger must be off",
		);
	});

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

	it('the oldest start the workflow, and the next check continues', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const calls = await addManyEnded(12);
		expect(await poll()).toEqual(calls.slice(0, 10));
		expect(await poll()).toEqual(calls.slice(10));
		expect(await poll()).toEqual([]);
	});

	it('those whose creation time the list does not show come last', async () => {
		const { publish, poll } = newTrigger();
		await publish(ALL);
		const [undated = '', ...dated] = await addManyEnded(12);
		const created = (at: number) => new Date(Date.now() + at * 1_000).toISOString();
		const entries = dated.map((id, at) => ({ call_id: id, created_at: created(at) }));
		listOnly([{ call_id: undated }, ...entries]);
		expect(await poll()).toEqual(dated.slice(0, 10));
		expect(await poll()).toEqual([undated, ...dated.slice(10)]);
	});

	it('a listed call that the service does not find fails no check, and starts the workflow once it does', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const late = await addEnded('late');
		faults().respond(recordOf(late), 404, {
			body: { success: false, error: 'call_not_found' },
		});
		expect(await poll()).toEqual([]);
		expect(await poll()).toEqual([]);
		faults().clear();
		expect(await poll()).toEqual([late]);
	});

	it('newer ones start the workflow although the records of the oldest are gone', async () => {
		const { publish, poll } = newTrigger();
		await publish();
		const calls = await addManyEnded(12);
		const body = { success: false, error: 'call_not_found' };
		for (const id of calls.slice(0, 10)) faults().respond(recordOf(id), 404, { body });
		expect([...(await poll()), ...(await poll())]).toEqual(calls.slice(10));
	});
});

describe('a check that n8n ends after 36 seconds', () => {
	const WHOLE_MS = 36_000;
	let timeIsUp: (ms: number) => void;
	beforeEach(() => {
		timeIsUp = holdTimeouts();
	});
	const publishedOnTime = async (parameters: INodeParameters = {}) => {
		const { publish, poll } = newTrigger({ budgetMs: WHOLE_MS });
		await publish(parameters);
		return poll;
	};

	/** A check whose time is up at the first request to a path after as many as given. Returns its calls or its error. */
	const pollUntil = async (poll: () => Promise<string[]>, path: RegExp, requests: number) => {
		faults().inject({ kind: 'hang', match: { path }, skip: requests });
		const before = requestsOf(path);
		const polling = poll().catch(asError);
		await eventually(() => requestsOf(path) > before + requests);
		pass(WHOLE_MS);
		timeIsUp(WHOLE_MS);
		const found = await polling;
		faults().clear();
		// A request that was on its way would count for the next check.
		await untilIdle();
		return found;
	};
	const expectNotComplete = (error: unknown) =>
		expect(asError(error).message).toBe("n8n's time for a check ended before everything was read");

	it('the calls that it has read in time start the workflow, and the next ones pass the others', async () => {
		const poll = await publishedOnTime();
		const calls = await addManyEnded(20);
		const first = await pollUntil(poll, RECORD, 7);
		if (first instanceof Error) throw first;
		expect(first.length).toBeGreaterThan(0);
		expect(first.length).toBeLessThanOrEqual(7);
		const others = [...(await poll()), ...(await poll())];
		expect([...first, ...others].sort()).toEqual(calls.sort());
	});

	it('the next one goes on with other calls than those that never end', async () => {
		const poll = await publishedOnTime(ALL);
		const inProgress = Array.from({ length: 25 }, (_, at) => addCall(`endless-${at}`));
		const ended = await addManyEnded(3);
		// The list shows no ends, so each record is read.
		const entries = [...inProgress, ...ended].map((id, at) => ({
			call_id: id,
			created_at: new Date(Date.now() + at * 1_000).toISOString(),
		}));
		const found: string[] = [];
		for (let check = 0; check < 2; check++) {
			listOnly(entries);
			const ofCheck = await pollUntil(poll, RECORD, 12);
			if (ofCheck instanceof Error) throw ofCheck;
			found.push(...ofCheck);
		}
		expect(found.sort()).toEqual(ended.sort());
	});

	it.each([
		['the call list', ALL, LIST, 0],
		['the campaign', {}, STATUS, 0],
		['a contact list', {}, LIST, 1],
	])('says so if it could not read %s in time', async (_what, parameters, path, before) => {
		const poll = await publishedOnTime(parameters);
		const calls = BOTH_LISTS.map(String);
		for (const uploadId of BOTH_LISTS) await addEnded(`${uploadId}`, { uploadId });
		expectNotComplete(await pollUntil(poll, path, before));
		// The next one begins again.
		expect((await poll()).sort()).toEqual(calls.sort());
	});

	describe('fails if it is the first one and its time ends', () => {
		const first = async () => {
			await publishedOnTime();
			return [];
		};

		it('before the last list is read', async () => {
			expectNotComplete(await pollUntil(first, LIST, 1));
		});

		it('before the last record is read', async () => {
			// The list shows no ends.
			listOnly([{ call_id: await addEnded('a') }]);
			expectNotComplete(await pollUntil(first, RECORD, 0));
		});
	});
});
