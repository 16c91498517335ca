import { randomUUID } from 'node:crypto';
import type { IRun } from 'n8n-workflow';
import { ReadState } from '../../../../nodes/CallCompletedTrigger/reading/readState';
import { clock } from '../../../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../../../contract/credentialFor';
import {
	activate,
	callWebhook,
	engineHarness,
	makeWorkflow,
	output,
	runWorkflow,
	skipTime,
	speedUp,
} from '../../../engine';
import { eventually } from '../../../n8n/until';
import { dialects, fixtures } from '../../../simulator';
import { seededCall } from '../../../simulator/state/seed';
import type { Call } from '../../../simulator/state/types';
import type { ReadingHarness } from './readingHarness';
import { readingTests } from './readingHarness';

const harness = engineHarness();
const { uploads, campaigns } = fixtures;
const HOUR_MS = 3_600_000;

const { service, publish } = readingTests(harness, dialects.plain);

/** Adds a call that has ended to a contact list that wasn't read yet. */
async function addToNewList(trigger: ReadingHarness): Promise<string> {
	const campaign = service().state.campaigns.get(campaigns.active);
	const [first] = campaign?.uploads ?? [];
	if (first !== undefined) campaign?.uploads.push({ ...first, id: 9_003, queues: [] });
	return await trigger.addEnded({ uploadId: 9_003 });
}

describe('a call list that shows less than the record', () => {
	/** Entries with an ID only. */
	const showOnlyIds = () =>
		jest
			.spyOn(dialects.plain.calls, 'listItem')
			.mockImplementation(({ call_id: id = null }) => ({ call_id: id }));

	it('each outcome starts the workflow once, also that of a redial with the same ID', async () => {
		showOnlyIds();
		const trigger = await publish();
		const callId = trigger.addCall();
		await service().endCall(callId, { status: 'not_picked', retry_count: 0 });
		await trigger.read(2);
		await service().endCall(callId, { status: 'picked', retry_count: 1 });
		await trigger.read(2);
		expect(trigger.started).toEqual([callId, callId]);
		expect(trigger.emissions).toBe(2);
	});

	it('a callback starts the workflow, although the call list shows times without a UTC offset', async () => {
		jest
			.spyOn(dialects.plain.calls, 'listItem')
			.mockImplementation(({ call_picked_at: time = null, ...entry }) => ({
				...entry,
				call_picked_at: typeof time === 'string' ? time.replace(/\+.*/, '') : time,
			}));
		const trigger = await publish();
		const callId = trigger.addCall();
		for (const time of ['2026-11-20T10:00:00+05:30', '2026-11-20T10:20:00+05:30']) {
			await service().endCall(callId, { status: 'picked', retry_count: 0, call_picked_at: time });
			await trigger.read(2);
		}
		expect(trigger.started).toEqual([callId, callId]);
		expect(trigger.emissions).toBe(2);
	});

	it('a call of a new contact list that the webhook has started does not start again', async () => {
		showOnlyIds();
		const trigger = await publish({ getCalls: 'webhookAndReading' });
		const release = service().holdResponses(/status$/);
		const callId = await addToNewList(trigger);
		await trigger.deliver(callId);
		release();
		await trigger.read(3);
		expect(trigger.started).toEqual([callId]);
		expect(trigger.emissions).toBe(1);
	});
});

describe('with the webhook', () => {
	it('each outcome starts the workflow once, whichever comes first', async () => {
		const trigger = await publish({ getCalls: 'webhookAndReading' });
		const delivered = await trigger.addEnded();
		expect(await trigger.deliver(delivered)).toMatchObject({ statusCode: 200 });
		const lost = await trigger.addEnded();
		await trigger.read(2);
		expect(await trigger.deliver(lost)).toMatchObject({
			statusCode: 200,
			body: { message: 'This call was received before.' },
		});
		expect(trigger.started).toEqual([delivered, lost].sort());
		expect(trigger.emissions).toBe(2);
	});

	it('what the webhook started does not start again after a restart, also if n8n has no execution of it anymore', async () => {
		const trigger = await publish({ getCalls: 'webhookAndReading' });
		const callId = await trigger.addEnded();
		await trigger.deliver(callId);
		await eventually(() => trigger.started.includes(callId));
		trigger.executions.clear();
		jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 25 * HOUR_MS);
		await trigger.restart();
		await trigger.read();
		expect(trigger.started).toEqual([]);
	});

	describe("a call of a new contact list, while n8n can't start executions", () => {
		/** The attempts of the webhook take 96 s, and a reading begins each minute. */
		async function deliverDuringOutage(trigger: ReadingHarness): Promise<string> {
			const release = service().holdResponses(/status$/);
			const callId = await addToNewList(trigger);
			speedUp(30);
			trigger.isStarting = false;
			await trigger.deliver(callId);
			const { readings } = trigger;
			release();
			await eventually(() => trigger.readings > readings + 1);
			return callId;
		}

		it('starts with the next reading if no attempt succeeds', async () => {
			const trigger = await publish({ getCalls: 'webhookAndReading' });
			const callId = await deliverDuringOutage(trigger);
			await eventually(() => trigger.failed.length > 0);
			trigger.isStarting = true;
			speedUp(20_000);
			await trigger.read(3);
			expect(trigger.failed).toEqual([`n8n couldn't start the workflow for call ${callId}`]);
			expect(trigger.started).toEqual([callId]);
		});

		it("isn't stored as started during the attempts, so that it starts after a crash", async () => {
			const trigger = await publish({ getCalls: 'webhookAndReading' });
			const callId = await deliverDuringOutage(trigger);
			trigger.isStarting = true;
			// n8n stores the state with another execution.
			await trigger.deliver(await trigger.addEnded());
			await eventually(() => trigger.executions.size > 0);
			expect(trigger.started).not.toContain(callId);
			expect(JSON.stringify(trigger.stored)).toContain('"9003":{"seen":""');
		});
	});

	it('a call that a reading has found is passed to n8n once if the webhook reports it before the reading ends', async () => {
		const trigger = await publish({ getCalls: 'webhookAndReading' });
		const callId = await trigger.addEnded();
		// In progress, so the reading reads its record. The service takes long.
		const other = trigger.addCall();
		const path = `/v1/call/${other}`;
		const release = service().holdResponses(new RegExp(`${path}$`));
		await service().endCall(other);
		await eventually(() => service().requests.some((request) => request.path === path));
		trigger.isEnding = false;
		await trigger.deliver(callId);
		await eventually(() => trigger.started.includes(callId));
		release();
		await trigger.read(2);
		expect(trigger.started).toEqual([callId, other].sort());
		expect(trigger.emissions).toBe(2);
	});

	describe('a process without the trigger', () => {
		const deliverElsewhere = async (trigger: ReadingHarness, callId: string) => {
			const node = { ...(await trigger.node()), id: 'elsewhere' };
			const workflow = makeWorkflow([node]);
			workflow.getStaticData('node', node).servedElsewhere = true;
			const request = { body: { call_id: callId } };
			const { response, result } = await callWebhook(harness.credentials, workflow, node, request);
			return { message: response.body, executions: result?.workflowData?.length ?? 0 };
		};
		const leftToReading = {
			message: { message: 'The next reading starts the workflow.' },
			executions: 0,
		};

		it('leaves calls that are read to the reading', async () => {
			const trigger = await publish({ getCalls: 'webhookAndReading' });
			await trigger.stop();
			const callId = await trigger.addEnded();
			expect(await deliverElsewhere(trigger, callId)).toMatchObject(leftToReading);
			const other = await deliverElsewhere(trigger, fixtures.calls.unusual);
			expect(other.executions).toBe(1);
		});

		it('starts a call that was created before Start From, and the reading does not', async () => {
			const from = Math.floor(Date.now() / 1_000) * 1_000 - HOUR_MS;
			const startFrom = new Date(from).toISOString();
			const trigger = await publish({ getCalls: 'webhookAndReading', startFrom });
			const before = await trigger.addEnded({ createdAt: from - 1 });
			const after = await trigger.addEnded({ createdAt: from });
			expect((await deliverElsewhere(trigger, before)).executions).toBe(1);
			expect(await deliverElsewhere(trigger, after)).toMatchObject(leftToReading);
			await trigger.read(2);
			expect(trigger.started).toContain(after);
			expect(trigger.started).not.toContain(before);
		});
	});
});

describe('failures', () => {
	it('a call whose record fails does not keep others from starting, and starts at a later reading', async () => {
		const trigger = await publish();
		const failing = trigger.addCall();
		const path = `/v1/call/${failing}`;
		service().faults.inject({ kind: 'status', status: 500, match: { path } });
		await service().endCall(failing);
		const other = await trigger.addEnded();
		await trigger.read(3);
		expect(trigger.started).toEqual([other]);
		expect(trigger.failed).toEqual([
			"1 call of the call list couldn't be read, so the workflow wasn't started yet",
		]);
		service().faults.clear();
		await trigger.read();
		expect(trigger.started).toEqual([other, failing].sort());
	});

	it('many calls whose records always fail do not keep others from starting', async () => {
		const trigger = await publish();
		// The service lists the newest calls first.
		const other = trigger.addCall();
		for (let n = 0; n < 40; n++) {
			const path = `/v1/call/${await trigger.addEnded()}`;
			service().faults.inject({ kind: 'status', status: 500, match: { path } });
		}
		await trigger.read();
		await service().endCall(other);
		await eventually(() => trigger.started.includes(other));
		expect(trigger.failed.length).toBeGreaterThan(0);
	});

	describe('entries of the call list without a call_id', () => {
		const skipped = 'Entries of the call list without a call_id were skipped';

		/** A call that gets its ID later. */
		function addWithoutId(): Call {
			const call = seededCall(service().state.calls.size, Date.now());
			const queued = { ...call, callId: '', uploadId: uploads.running, finished: false };
			service().state.calls.set('queued', queued);
			return queued;
		}

		it('do not keep others from starting, and start when they have one', async () => {
			const trigger = await publish();
			const call = addWithoutId();
			const ended = await trigger.addEnded();
			await trigger.read(2);
			expect(trigger.started).toEqual([ended]);
			expect(trigger.failed).toEqual([skipped]);
			service().completeUpload(uploads.running);
			await trigger.read(2);
			skipTime(HOUR_MS);
			await trigger.read(2);
			service().state.calls.delete('queued');
			const callId = randomUUID();
			service().state.calls.set(callId, { ...call, callId });
			await service().endCall(callId);
			await trigger.read(2);
			expect(trigger.started).toEqual([ended, callId].sort());
			expect(trigger.failed).toEqual([skipped]);
		});

		it('do not keep the workflow from being published, or outages from being reported', async () => {
			addWithoutId();
			const trigger = await publish();
			const outages = () => trigger.failed.filter((message) => message !== skipped);
			for (let outage = 1; outage <= 2; outage++) {
				service().faults.inject({ kind: 'status', status: 503, match: { path: '/v1/calls' } });
				await eventually(() => outages().length === outage);
				service().faults.clear();
				await trigger.read(2);
			}
			expect(outages()).toHaveLength(2);
		});

		it('stop the reading if no entry has one', async () => {
			const trigger = await publish();
			jest.spyOn(dialects.plain.calls, 'listItem').mockReturnValue({ id: 1 });
			await eventually(() => trigger.failed.length > 0);
			expect(trigger.failed[0]).toMatch(/^\d+ entries of the call list have no call_id$/);
		});
	});

	it('notifies the owner once per outage, and the next reading finds every call', async () => {
		const trigger = await publish();
		const outage = () =>
			service().faults.inject({ kind: 'status', status: 503, match: { path: '/v1/calls' } });
		outage();
		const during = await trigger.addEnded();
		await trigger.read(4);
		expect(trigger.failed).toHaveLength(1);
		expect(trigger.failed[0]).toMatch(/^The calls couldn't be read: /);
		service().faults.clear();
		await trigger.read(2);
		expect(trigger.started).toEqual([during]);
		outage();
		await trigger.read(2);
		expect(trigger.failed).toHaveLength(2);
	});

	it('an outcome that n8n cannot start is tried again at the next reading', async () => {
		const trigger = await publish();
		trigger.isStarting = false;
		const callId = await trigger.addEnded();
		await eventually(() => trigger.failed.length > 0);
		expect(trigger.failed).toEqual([`n8n couldn't start the workflow for call ${callId}`]);
		trigger.isStarting = true;
		await eventually(() => trigger.started.length > 0);
		expect(trigger.started).toEqual([callId]);
	});

	it('a crash after n8n got an execution, and before the state was stored, starts nothing twice', async () => {
		const trigger = await publish();
		const { stored } = trigger;
		const calls = [await trigger.addEnded(), await trigger.addEnded()].sort();
		await eventually(() => trigger.started.length === 2);
		trigger.stored = stored;
		await trigger.restart();
		await trigger.read();
		expect(trigger.started).toEqual(calls);
		expect(trigger.emissions).toBe(4);
	});

	it('with the stored state, calls start nothing again, also if n8n has no executions of them anymore', async () => {
		const trigger = await publish();
		const first = await trigger.addEnded();
		await eventually(() => trigger.started.includes(first));
		await trigger.read();
		const last = await trigger.addEnded();
		await eventually(() => trigger.started.includes(last));
		trigger.executions.clear();
		const { emissions } = trigger;
		const now = Date.now();
		jest.spyOn(Date, 'now').mockReturnValue(now + 15 * 24 * HOUR_MS);
		await trigger.restart();
		await trigger.read();
		expect(trigger.emissions).toBe(emissions);
	});

	it('calls that the filters excluded do not start the workflow when the filters change', async () => {
		const trigger = await publish({ filters: { statuses: 'failed' } });
		await trigger.addEnded();
		await trigger.read();
		expect(trigger.started).toEqual([]);
		await trigger.publishAgain({ filters: {} });
		await trigger.read();
		expect(trigger.started).toEqual([]);
		const later = await trigger.addEnded();
		await trigger.read();
		expect(trigger.started).toEqual([later]);
	});

	it('says clearly if it cannot remember more calls', async () => {
		const trigger = await publish();
		const callId = await trigger.addEnded();
		jest.spyOn(ReadState.prototype, 'size', 'get').mockReturnValue(1_000_000);
		await eventually(() => trigger.failed.length > 0);
		expect(trigger.failed).toEqual([
			"The trigger can't remember more than 1,000,000 completed calls, so it doesn't read more of them",
		]);
		expect(trigger.started).not.toContain(callId);
	});

	it('reading stops when the workflow is unpublished', async () => {
		const trigger = await publish();
		await trigger.stop();
		const { length } = service().requests;
		await trigger.addEnded();
		// Three intervals.
		await clock.sleep(180_000);
		expect(service().requests.length).toBe(length);
		expect(trigger.emissions).toBe(0);
	});
});

describe('many calls', () => {
	it('10,000 completed calls since a date start one execution each, five at a time', async () => {
		const now = Date.now();
		for (let n = 0; n < 10_000; n++) {
			const call = seededCall(n, now);
			const callId = randomUUID();
			const outcome = { status: 'not_picked', retry_count: 0 };
			const { running: uploadId } = uploads;
			service().state.calls.set(callId, { ...call, callId, uploadId, outcome });
		}
		const trigger = await publish({ startFrom: new Date(now - 1).toISOString() });
		while (trigger.executions.size < 10_000) {
			const { size } = trigger.executions;
			await eventually(() => trigger.executions.size > size);
		}
		await trigger.read();
		expect(trigger.executions.size).toBe(10_000);
		expect(trigger.emissions).toBe(10_000);
		expect(JSON.stringify(trigger.stored).length).toBeLessThan(120_000);
		trigger.executions.clear();
		jest.spyOn(Date, 'now').mockReturnValue(now + 25 * HOUR_MS);
		await trigger.restart();
		await trigger.read();
		expect(trigger.started).toEqual([]);
		// A slow machine needs long, and `eventually` notices a standstill.
	}, 3_600_000);

	it('publishing does not wait longer than a minute for the first reading', async () => {
		const release = service().holdResponses(/^\/v1\/calls/);
		const trigger = await publish();
		const created = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		await trigger.restart();
		release();
		await trigger.read();
		expect(trigger.started).toEqual([created]);
	});

	it('calls that are placed after publishing and end before the first reading succeeds start the workflow', async () => {
		const release = service().holdResponses(/^\/v1\/calls/);
		const trigger = await publish();
		const placed = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		service().faults.inject({ kind: 'status', status: 503, match: { path: '/v1/calls' } });
		release();
		await eventually(() => trigger.failed.length > 0);
		const later = await trigger.addEnded({ createdAt: Date.now() + 1_000 });
		service().faults.clear();
		await eventually(() => trigger.started.length > 0);
		await trigger.read(2);
		expect(trigger.started).toEqual([placed, later].sort());
		expect(trigger.emissions).toBe(2);
	});

	it('a contact list that is added has a first reading of its own, also if publishing does not wait for it', async () => {
		const lists = { callsOf: 'lists', contactListIds: String(uploads.running) };
		const trigger = await publish(lists);
		await trigger.addEnded({ uploadId: uploads.completed });
		const release = service().holdResponses(/^\/v1\/calls/);
		await trigger.publishAgain({ contactListIds: `${uploads.running}, ${uploads.completed}` });
		const placed = await trigger.addEnded({
			uploadId: uploads.completed,
			createdAt: Date.now() + 1_000,
		});
		release();
		await eventually(() => trigger.started.length > 0);
		await trigger.read(2);
		expect(trigger.started).toEqual([placed]);
	});
});

describe('publishing', () => {
	const readingOf = (parameters = {}) => ({
		getCalls: 'reading',
		callsOf: 'campaign',
		campaignId: String(campaigns.active),
		...parameters,
	});

	async function publishing(parameters: object, credential: object = {}) {
		speedUp(20_000);
		const { baseUrl, token } = service();
		const details = await harness.addCredential({ baseUrl, apiToken: token, ...credential });
		const node = harness.node('callCompletedTrigger', {
			id: randomUUID(),
			parameters: { ...parameters },
			credentials: { [CREDENTIAL]: details },
		});
		return await activate(harness.credentials, makeWorkflow([node]));
	}

	test.each([
		[{ campaignId: 'leads' }, "'Campaign' must be a whole number"],
		[{ callsOf: 'lists', contactListIds: ' , ' }, "'Contact List IDs' is empty"],
		[{ callsOf: 'lists', contactListIds: '314, x' }, "'Contact List IDs' must list whole numbers"],
		[{ checkEvery: 0 }, "'Check Every (Minutes)' must be at least 1"],
		[{ checkEvery: 1_441 }, "'Check Every (Minutes)' must be at most 1440"],
		[{ startFrom: 'soon' }, `'Start From' must be a date (got "soon")`],
		[{}, 'The credential lacks settings for the call list'],
	])('%j is reported', async (parameters, message) => {
		await expect(publishing(readingOf(parameters))).rejects.toThrow(message);
	});

	it("with an unknown campaign by mistake doesn't lose what the trigger remembers", async () => {
		const trigger = await publish();
		const callId = trigger.addCall();
		await expect(trigger.publishAgain({ campaignId: '4711' })).rejects.toThrow();
		await service().endCall(callId);
		// A new process has no memory.
		await trigger.restart('init', { campaignId: String(campaigns.active) });
		await trigger.read();
		expect(trigger.started).toEqual([callId]);
	});

	it('reports an unknown campaign', async () => {
		const parameters = readingOf({ campaignId: '9' });
		const credential = credentialFor(service());
		await expect(publishing(parameters, credential)).rejects.toThrow(
			"The service doesn't know this campaign",
		);
	});
});

describe('a test in the editor', () => {
	async function test(trigger: ReadingHarness): Promise<IRun> {
		await trigger.stop();
		const node = await trigger.node();
		const input = [{ json: {} }];
		return await runWorkflow(harness.credentials, makeWorkflow([node]), node, input, 'manual');
	}

	it('returns the latest completed call', async () => {
		const trigger = await publish({ include: ['transcript'] });
		const callId = await trigger.addEnded();
		trigger.addCall({ createdAt: Date.now() + HOUR_MS });
		const run = await test(trigger);
		expect(output(run, 'Node')).toMatchObject([
			{ json: { call_id: callId, transcript: expect.any(Array) } },
		]);
	});

	it('says that there is no completed call', async () => {
		const run = await test(await publish({ filters: { statuses: 'unheard' } }));
		expect(run.data.resultData.error).toMatchObject({
			message: 'No completed call matches',
			description:
				"The latest calls are in progress, or don't match 'Filters'. Test again when a call is completed.",
		});
	});
});
