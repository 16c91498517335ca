import { randomUUID } from 'node:crypto';
import omit from 'lodash/omit';
import pick from 'lodash/pick';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { POLL_LIMITS } from '../../../nodes/CampaignCallsTrigger/pollCalls';
import { clock } from '../../../nodes/shared/n8n/http/accountClient';
import { CREDENTIAL } from '../../../nodes/shared/n8n/http/credential';
import { credentialFor } from '../../contract/credentialFor';
import { until } from '../../n8n/until';
import {
	activate,
	engineHarness,
	holdTimeouts,
	makeWorkflow,
	nodeTypes,
	pollContext,
	skipSleeps,
} from '../../engine';
import { dialects, fixtures } from '../../simulator';
import type { JsonObject } from '../../simulator/json';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { seededCall } from '../../simulator/state/seed';

const harness = engineHarness();
const asError = (error: unknown) => z.instanceof(Error).parse(error);
const callIdOf = ({ call_id: id }: IDataObject) => z.string().parse(id);
const { uploads, campaigns, agents } = fixtures;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LAST_7_DAYS = { startFrom: 'last7Days' };
const fromDate = (startDate: string) => ({ startFrom: 'date', startDate });
const NOT_FOUND = { success: false, error: 'call_not_found', details: null };
const WATCHED = { pollTimes: { item: [{ mode: 'everyMinute' }] }, campaignId: campaigns.active };

// Pages with a total, and links without one.
describe.each(Object.values(dialects))('dialect $name', (dialect) => {
	const simulator = useSimulator({ dialect });
	beforeEach(() => {
		setClock = skipSleeps();
	});
	afterEach(() => jest.restoreAllMocks());
	let setClock: (iso: string) => void;

	/** A published trigger, and what n8n has stored of it: when it's published, and with each execution. */
	async function published(
		parameters: INodeParameters = {},
		{ budgetMs, isDurable = false }: { budgetMs?: number; isDurable?: boolean } = {},
	) {
		let stored: IDataObject = {};
		const newCredential = async () => await harness.addCredential(credentialFor(simulator()));
		let credential = await newCredential();
		let name = 'Campaign Calls Trigger';
		const begin = (over: INodeParameters = {}) => {
			const node = harness.node('campaignCallsTrigger', {
				id: 'calls',
				name,
				parameters: { ...WATCHED, ...parameters, ...over },
				credentials: { [CREDENTIAL]: credential },
			});
			const workflow = makeWorkflow([node]);
			workflow.overrideStaticData(structuredClone(stored));
			return { node, workflow, context: pollContext(workflow, node, 'trigger', budgetMs) };
		};
		let current = begin();
		const store = () => {
			const copy: unknown = JSON.parse(JSON.stringify(current.workflow.staticData));
			stored = z.record(z.custom<IDataObject>()).parse(copy);
		};
		const poll = async () => {
			const { node, context } = current;
			const found = await nodeTypes.getByNameAndVersion(node.type).poll?.call(context);
			if (found) store();
			return found?.[0]?.map(({ json }) => json) ?? [];
		};
		const publish = async (over: INodeParameters = {}) => {
			const ofNode = `node:${name}`;
			const { [ofNode]: before } = stored;
			current = begin(over);
			const found = await poll();
			store();
			// With durable cursors, n8n keeps what the node wrote only with an event.
			if (isDurable && found.length === 0) {
				stored = { ...omit(stored, ofNode), ...(before !== undefined && { [ofNode]: before }) };
				current = begin(over);
			}
			return found;
		};
		return {
			poll,
			publish,
			first: await publish(),
			ids: async () => (await poll()).map(callIdOf).sort(),
			/** n8n begins again with what it has stored. */
			restart: () => (current = begin()),
			rename: (to: string) => (name = to),
			selectOtherCredential: async () => {
				credential = await newCredential();
			},
		};
	}

	/** Adds a call in progress, and returns its ID. */
	function addCall(fields: { uploadId?: number; createdAt?: number; agentUuid?: string } = {}) {
		const { uploadId = uploads.running, createdAt = Date.now(), ...rest } = fields;
		const callId = randomUUID();
		const call = seededCall(simulator().state.calls.size, createdAt);
		simulator().state.calls.set(callId, { ...call, ...rest, callId, uploadId, finished: false });
		return callId;
	}

	async function addEnded(fields: Parameters<typeof addCall>[0] = {}) {
		const callId = addCall(fields);
		await simulator().endCall(callId);
		return callId;
	}

	/** Ended calls in the order in which they were created, which isn't that of the list. */
	async function addManyEnded(count: number) {
		const calls: string[] = [];
		for (let call = 0; call < count; call++) {
			// 7 and the count have no common divisor.
			const at = (call * 7) % count;
			calls[at] = await addEnded({ createdAt: Date.now() + HOUR_MS + at * 1_000 });
		}
		return calls;
	}

	const faults = () => simulator().faults;
	const listBody = (calls: JsonObject[], total = calls.length) => {
		const items = calls.map((call) => dialect.calls.listItem(call));
		return dialect.calls.listBody({ items, total, next: null, link: null });
	};
	const listRequests = () => simulator().requests.filter(({ path }) => path === '/v1/calls').length;

	it('returns the calls that ended since the last poll in one execution, and no earlier ones', async () => {
		const inProgress = addCall();
		const { first, poll, ids } = await published();
		expect(first).toEqual([]);
		expect(await poll()).toEqual([]);
		await simulator().endCall(inProgress, { summary: 'Interested' });
		const other = await addEnded();
		const found = await poll();
		expect(found.map(({ call_id: id }) => id).sort()).toEqual([inProgress, other].sort());
		expect(found.find(({ call_id: id }) => id === inProgress)).toMatchObject({
			summary: 'Interested',
			phone_key: expect.any(String),
		});
		expect(await ids()).toEqual([]);
	});

	it('catches up after n8n was down, and after the workflow was unpublished', async () => {
		const { poll, ids, restart, publish } = await published();
		const known = await addEnded();
		expect(await ids()).toEqual([known]);
		expect(await poll()).toEqual([]);
		const missed = await addEnded();
		restart();
		expect(await ids()).toEqual([missed]);
		const unpublished = await addEnded();
		expect((await publish()).map(({ call_id: id }) => id)).toEqual([unpublished]);
	});

	it('returns a redial with the same call_id as another outcome, also if its record lags behind the list', async () => {
		const { poll } = await published();
		const callId = addCall();
		await simulator().endCall(callId, { status: 'not_picked', retry_count: 0 });
		const [former] = await poll();
		await simulator().endCall(callId, { status: 'picked', retry_count: 1 });
		const data = omit(former, 'phone_key');
		faults().respond(`/v1/call/${callId}`, 200, { times: 1, body: { success: true, data } });
		expect(await poll()).toEqual([]);
		expect(await poll()).toMatchObject([{ status: 'picked', retry_count: 1 }]);
		expect(await poll()).toEqual([]);
	});

	it('returns each call once if polls overlap', async () => {
		const { ids } = await published();
		const callId = await addEnded();
		const found = await Promise.all([ids(), ids(), ids()]);
		expect(found.flat()).toEqual([callId]);
		const later = await addEnded();
		expect(await ids()).toEqual([later]);
	});

	it('Start From: Date returns calls that were created at that time or later', async () => {
		const now = Date.now();
		const old = await addEnded({ createdAt: now - 3 * HOUR_MS });
		const recent = await addEnded({ createdAt: now - HOUR_MS });
		const exact = await addEnded({ createdAt: now - 2 * HOUR_MS });
		const { first, ids } = await published(fromDate(new Date(now - 2 * HOUR_MS).toISOString()));
		const found = first.map(({ call_id: id }) => id);
		expect(found).toEqual(expect.arrayContaining([recent, exact]));
		expect(found).not.toContain(old);
		expect(await ids()).toEqual([]);
	});

	it('Start From: Last 7 Days returns the calls of the week before it was first published, each once', async () => {
		const now = Date.now();
		setClock(new Date(now).toISOString());
		const old = await addEnded({ createdAt: now - 7 * DAY_MS - 1 });
		const exact = await addEnded({ createdAt: now - 7 * DAY_MS });
		const recent = await addEnded({ createdAt: now - DAY_MS });
		const { first, ids, restart, publish } = await published(LAST_7_DAYS);
		const found = first.map(callIdOf);
		expect(found).toEqual(expect.arrayContaining([exact, recent]));
		expect(found).not.toContain(old);
		expect(await ids()).toEqual([]);
		// Weeks later, it's still that week, so a call of it that ends, or is listed late, isn't lost.
		setClock(new Date(now + 30 * DAY_MS).toISOString());
		const late = await addEnded({ createdAt: now - 6 * DAY_MS });
		restart();
		expect(await ids()).toEqual([late]);
		const later = await addEnded({ createdAt: now - 5 * DAY_MS });
		expect((await publish()).map(callIdOf)).toEqual([later]);
		expect(await ids()).toEqual([]);
	});

	it('Start From: Last 7 Days begins at the same time for calls that one check left for the next', async () => {
		const now = Date.now();
		setClock(new Date(now).toISOString());
		simulator().state.calls.clear();
		const added: string[] = [];
		for (let call = 0; call < 3; call++) {
			added.push(await addEnded({ createdAt: now - 7 * DAY_MS + call }));
		}
		jest.replaceProperty(POLL_LIMITS, 'calls', 1);
		const { first, poll } = await published(LAST_7_DAYS);
		const found = first.map(callIdOf);
		for (let polls = 0; polls < 2; polls++) {
			setClock(new Date(now + (polls + 1) * HOUR_MS).toISOString());
			found.push(...(await poll()).map(callIdOf));
		}
		expect(found).toEqual(added);
	});

	it('Start From: Last 7 Days begins again for another campaign', async () => {
		const now = Date.now();
		setClock(new Date(now).toISOString());
		const { publish } = await published(LAST_7_DAYS);
		setClock(new Date(now + 8 * DAY_MS).toISOString());
		const before = await addEnded({ createdAt: now + DAY_MS - 1 });
		const within = await addEnded({ createdAt: now + DAY_MS });
		const found = (await publish({ callsOf: 'all' })).map(callIdOf);
		expect(found).toContain(within);
		expect(found).not.toContain(before);
	});

	it('Start From: leaves out a call whose creation time only its record shows', async () => {
		const now = Date.now();
		const old = await addEnded({ createdAt: now - 3 * HOUR_MS });
		const recent = await addEnded({ createdAt: now - HOUR_MS });
		const body = listBody([{ call_id: old }, { call_id: recent }]);
		faults().respond('/v1/calls', 200, { times: 1, body });
		const startDate = new Date(now - 2 * HOUR_MS).toISOString();
		const { first } = await published({ callsOf: 'all', ...fromDate(startDate) });
		expect(first.map(callIdOf)).toEqual([recent]);
	});

	const localTime = new Date(Date.now() - 11 * HOUR_MS).toISOString().replace('Z', '');
	it.each(['27.11.2026 10:00', 1795838400, null, localTime])(
		'Start From: a call that was created at %j starts the workflow, too',
		async (createdAt) => {
			const callId = await addEnded();
			const data = { call_id: callId, status: 'picked', summary: 'Yes', created_at: createdAt };
			faults().respond(`/v1/call/${callId}`, 200, { body: { success: true, data } });
			const { first } = await published(fromDate(new Date(Date.now() - 1_000).toISOString()));
			expect(first.map(callIdOf)).toContain(callId);
			const lastWeek = await published(LAST_7_DAYS);
			expect(lastWeek.first.map(callIdOf)).toContain(callId);
		},
	);

	it('returns calls of a contact list that the campaign got later, also if they ended before the next poll', async () => {
		const { ids } = await published();
		const running = simulator().state.campaigns.get(campaigns.active)?.uploads ?? [];
		const [first] = running;
		if (first === undefined) throw new Error('The campaign has no contact list');
		running.push({ ...first, id: 999_001 });
		const callId = await addEnded({ uploadId: 999_001 });
		expect(await ids()).toEqual([callId]);
	});

	it('All Calls: fails like the call list, which has no name', async () => {
		const { poll, ids } = await published({ callsOf: 'all' });
		faults().respond('/v1/calls', 422, { body: { success: false, errors: ['Not now'] } });
		await expect(poll()).rejects.toThrow(/^The service rejected the request$/);
		faults().clear();
		const callId = await addEnded();
		expect(await ids()).toEqual([callId]);
	});

	it('All Calls: the filters apply, and excluded calls are read once', async () => {
		const filters = { agentUuid: { __rl: true, mode: 'id', value: agents.us } };
		const { ids } = await published({ callsOf: 'all', filters });
		const other = await addEnded();
		const own = await addEnded({ agentUuid: agents.us });
		expect(await ids()).toEqual([own]);
		expect(await ids()).toEqual([]);
		const reads = simulator().requests.filter(({ path }) => path === `/v1/call/${other}`);
		expect(reads).toHaveLength(1);
	});

	it.each([
		['Answered', 'picked', 'failed'],
		['not answered, FAILED', 'not_picked', 'picked'],
		['not_picked, failed', 'failed', 'picked'],
		['hung_up', 'hung_up', 'picked'],
		['Picked', 'picked', 'failed'],
		['PICKED', 'picked', 'failed'],
		['Not picked', 'not_picked', 'picked'],
		['not-picked', 'NotPicked', 'picked'],
		['Not Answered or Failed', 'failed', 'picked'],
		['not answered or failed, Hung Up', 'not_picked', 'picked'],
		['Hung Up', 'hung_up', 'picked'],
		["={{ ['hung_up', 'Answered'] }}", 'picked', 'failed'],
		// A service may have a status by the name of an outcome.
		['Answered', 'Answered', 'failed'],
		['Failed', 'Failed', 'picked'],
	])(
		'Statuses: %s takes calls with the status %s, not %s',
		async (statuses, status, otherStatus) => {
			const filters = { statuses: { __rl: true, mode: 'list', value: statuses } };
			const { ids } = await published({ filters, options: { finishedStatuses: '' } });
			const wanted = addCall();
			await simulator().endCall(wanted, { status });
			const other = addCall();
			await simulator().endCall(other, { status: otherStatus });
			expect(await ids()).toEqual([wanted]);
		},
	);

	it('Finished Statuses: Failed is both a status of that name and the documented one', async () => {
		const callIds = ['Failed', 'failed', 'busy'].map((status) => {
			const callId = addCall();
			return { callId, status };
		});
		const { ids } = await published({ options: { finishedStatuses: 'Failed' } });
		for (const { callId, status } of callIds) {
			const call = simulator().state.calls.get(callId);
			if (call !== undefined) call.outcome = { status };
		}
		const [named, documented] = callIds.map(({ callId }) => callId);
		expect(await ids()).toEqual([named, documented].sort());
	});

	it('Campaign IDs: must include the campaign whose calls are checked', async () => {
		await expect(published({ filters: { campaignIds: '999' } })).rejects.toMatchObject({
			message: `'Campaign IDs' in 'Filters' excludes each call of campaign ${campaigns.active}`,
			failure: { cause: 'configuration-invalid' },
		});
	});

	const endWith = async (status: string, callId = addCall()) => {
		await simulator().endCall(callId, { status });
		return callId;
	};
	const ONLY_FAILED = { filters: { statuses: 'failed' } };

	// n8n stores nothing of a check without executions, and all of it with the next execution.
	it.each([false, true])(
		'calls that Filters excluded start the workflow once after they are changed, also if an execution followed: %s',
		async (isStored) => {
			await endWith('picked');
			const { ids, publish } = await published(ONLY_FAILED);
			const excluded = await endWith('picked');
			expect(await ids()).toEqual([]);
			if (isStored) {
				const wanted = await endWith('failed');
				expect(await ids()).toEqual([wanted]);
			}
			expect((await publish({ filters: {} })).map(callIdOf)).toEqual([excluded]);
			expect(await publish({ filters: {} })).toEqual([]);
			expect(await publish(ONLY_FAILED)).toEqual([]);
		},
	);

	it('a call that Filters excluded starts the workflow after a status of the service was removed from them', async () => {
		const { ids, publish } = await published({ filters: { statuses: 'busy' } });
		const excluded = await endWith('picked');
		expect(await ids()).toEqual([]);
		expect((await publish({ filters: {} })).map(callIdOf)).toEqual([excluded]);
	});

	it('a call that ended while the workflow was unpublished starts it, also with other Finished Statuses', async () => {
		const { publish } = await published();
		const ended = await endWith('not_picked');
		const options = { finishedStatuses: 'picked, not_picked, failed, voicemail' };
		expect((await publish({ options })).map(callIdOf)).toEqual([ended]);
	});

	it('calls of a completed list that Filters excluded start the workflow after they are changed', async () => {
		const { ids, publish } = await published(ONLY_FAILED);
		const excluded = await endWith('picked');
		simulator().completeUpload(uploads.running);
		for (let check = 0; check < 2; check++) expect(await ids()).toEqual([]);
		const wanted = await endWith('failed');
		expect(await ids()).toEqual([wanted]);
		expect((await publish({ filters: {} })).map(callIdOf)).toEqual([excluded]);
	});

	it('with another credential, begins again, because the calls may be those of another account', async () => {
		const { publish, ids, selectOtherCredential } = await published({ callsOf: 'all' });
		await addEnded();
		await selectOtherCredential();
		expect(await publish()).toEqual([]);
		const later = await addEnded();
		expect(await ids()).toEqual([later]);
	});

	it('renamed, begins again, and with its former name continues where it was', async () => {
		const { publish, ids, rename } = await published();
		const passed = await addEnded();
		expect(await ids()).toEqual([passed]);
		const unread = await addEnded();
		rename('New name');
		expect(await publish()).toEqual([]);
		const later = await addEnded();
		expect(await ids()).toEqual([later]);
		rename('Campaign Calls Trigger');
		expect((await publish()).map(callIdOf).sort()).toEqual([unread, later].sort());
	});

	it('reads a completed list whose calls have ended only if its queues change or the campaign has more attempts, and once an hour', async () => {
		const { ids } = await published();
		simulator().completeUpload(uploads.running);
		await ids();
		const settled = listRequests();
		expect(await ids()).toEqual([]);
		expect(listRequests()).toBe(settled);
		const callback = await addEnded();
		expect(await ids()).toEqual([callback]);
		const [, upload] = simulator().state.campaigns.get(campaigns.active)?.uploads ?? [];
		const [queue] = upload?.queues ?? [];
		if (queue !== undefined) queue.totalQueued++;
		const before = listRequests();
		await ids();
		expect(listRequests()).toBeGreaterThan(before);
		const after = listRequests();
		await ids();
		expect(listRequests()).toBe(after);
		setClock(new Date(clock.now() + 2 * HOUR_MS).toISOString());
		await ids();
		expect(listRequests()).toBeGreaterThan(after);
	});

	it('does not read a completed list again after its last call was returned', async () => {
		const { ids } = await published();
		const last = await addEnded();
		simulator().completeUpload(uploads.running);
		expect(await ids()).toEqual([last]);
		const settled = listRequests();
		expect(await ids()).toEqual([]);
		expect(listRequests()).toBe(settled);
	});

	it('reads a completed list again in which only the record of a call showed no end', async () => {
		simulator().state.calls.clear();
		const callId = addCall();
		simulator().completeUpload(uploads.running);
		faults().respond('/v1/calls', 200, { body: listBody([{ call_id: callId }]) });
		const { ids } = await published();
		faults().clear();
		await simulator().endCall(callId);
		expect(await ids()).toEqual([callId]);
	});

	it('reads a completed list again if its total shows that calls were missing', async () => {
		const { ids } = await published();
		simulator().completeUpload(uploads.running);
		faults().respond('/v1/calls', 200, { times: 1, body: listBody([], 5) });
		await ids();
		const before = listRequests();
		await ids();
		const hasTotal = Boolean(credentialFor(simulator()).callListTotalPath);
		expect(listRequests() > before).toBe(hasTotal);
		const settled = listRequests();
		await ids();
		expect(listRequests()).toBe(settled);
	});

	/** Its record shows this status, but no end. */
	const addWithStatus = (status: string) => {
		const callId = addCall();
		const call = simulator().state.calls.get(callId);
		if (call === undefined) throw new Error('The call was not added');
		call.outcome = { status };
		return callId;
	};

	it.each(['busy', 'Busy', 'not_picked, BUSY'])(
		'Statuses: a call that shows only the status busy has ended if %s is chosen',
		async (statuses) => {
			addWithStatus('busy');
			const { ids } = await published({ filters: { statuses } });
			const busy = addWithStatus('busy');
			addWithStatus('ringing');
			expect(await ids()).toEqual([busy]);
			expect(await ids()).toEqual([]);
		},
	);

	it('Statuses: picked still needs a sign of the end', async () => {
		const { ids } = await published({ filters: { statuses: 'Picked' } });
		const callId = addWithStatus('picked');
		expect(await ids()).toEqual([]);
		await simulator().endCall(callId, { status: 'picked' });
		expect(await ids()).toEqual([callId]);
	});

	it.each<[string, INodeParameters]>([
		['Finished Statuses', { options: { finishedStatuses: 'not_picked, voicemail' } }],
		['Finished Statuses', { options: { finishedStatuses: 'voicemail' } }],
		['Statuses', { filters: { statuses: 'voicemail, not_picked' } }],
	])(
		'a status that %s got later: calls start the workflow that have it since the publication',
		async (_which, changes) => {
			addWithStatus('voicemail');
			const { publish, ids } = await published();
			const voicemail = addWithStatus('voicemail');
			expect(await ids()).toEqual([]);
			// Ended while the workflow was unpublished.
			const ended = await endWith('not_picked');
			const found = (await publish(changes)).map(callIdOf);
			expect(found.sort()).toEqual([voicemail, ended].sort());
			expect(await ids()).toEqual([]);
			expect(await publish()).toEqual([]);
		},
	);

	it.each([[['call_id']], [['call_id', 'status']], [['call_id', 'call_ended_by']]])(
		'a status that Finished Statuses got later, with a list that shows only %j: calls start the workflow that have it since the publication',
		async (shown) => {
			simulator().state.calls.clear();
			const entry = (callId: string, status: string): JsonObject =>
				pick({ call_id: callId, status, call_ended_by: null }, shown);
			const list = (...calls: JsonObject[]) => {
				faults().clear();
				faults().respond('/v1/calls', 200, { body: listBody(calls) });
			};
			const old = addWithStatus('voicemail');
			const ringing = addWithStatus('ringing');
			list(entry(old, 'voicemail'), entry(ringing, 'ringing'));
			const { publish, ids } = await published({ callsOf: 'all' });
			const call = simulator().state.calls.get(ringing);
			if (call !== undefined) call.outcome = { status: 'voicemail' };
			// The list may lag behind.
			list(entry(old, 'voicemail'), entry(ringing, 'ringing'));
			const changes = { callsOf: 'all', options: { finishedStatuses: 'voicemail' } };
			const found = (await publish(changes)).map(callIdOf);
			list(entry(old, 'voicemail'), entry(ringing, 'voicemail'));
			expect([...found, ...(await ids())]).toEqual([ringing]);
			expect(await ids()).toEqual([]);
		},
	);

	it('returns what it can read, and the rest later', async () => {
		const { poll, ids } = await published();
		const [one, two] = [await addEnded(), await addEnded()];
		faults().respond(new RegExp(`/v1/call/${two}`), 400);
		expect(await ids()).toEqual([one]);
		await expect(poll()).rejects.toThrow();
		faults().clear();
		expect(await ids()).toEqual([two]);
	});

	describe('more calls than one poll reads', () => {
		beforeEach(() => jest.replaceProperty(POLL_LIMITS, 'calls', 10));

		it('one poll returns the oldest calls, and the next one continues', async () => {
			const { poll } = await published();
			const calls = await addManyEnded(12);
			expect((await poll()).map(callIdOf)).toEqual(calls.slice(0, 10));
			expect((await poll()).map(callIdOf)).toEqual(calls.slice(10));
			expect(await poll()).toEqual([]);
		});

		it('those whose creation time the list does not show come last', async () => {
			const { poll, restart } = await published({ callsOf: 'all' });
			const calls = await addManyEnded(12);
			const [undated = '', ...dated] = calls;
			const created = (at: number) => new Date(Date.now() + at * 1_000).toISOString();
			const entries = dated.map((id, at) => ({ call_id: id, created_at: created(at) }));
			faults().respond('/v1/calls', 200, { body: listBody([{ call_id: undated }, ...entries]) });
			restart();
			expect((await poll()).map(callIdOf).sort()).toEqual(dated.slice(0, 10).sort());
			expect((await poll()).map(callIdOf).sort()).toEqual([undated, ...dated.slice(10)].sort());
		});

		it('the next one begins with the oldest again if the service failed in between', async () => {
			const { poll } = await published();
			const calls = await addManyEnded(22);
			const path = new RegExp(`/v1/call/${calls[0]}`);
			faults().respond(path, 503);
			await poll().catch(() => []);
			faults().clear();
			expect((await poll()).map(callIdOf)[0]).toBe(calls[0]);
		});

		it('returns newer calls although the records of the oldest are gone', async () => {
			const { poll } = await published();
			const calls = await addManyEnded(12);
			const gone = new RegExp(`/v1/call/(${calls.slice(0, 10).join('|')})`);
			faults().respond(gone, 404, { body: NOT_FOUND });
			const found = [...(await poll()), ...(await poll())];
			expect(found.map(callIdOf)).toEqual(calls.slice(10));
		});
	});

	describe('a poll that n8n ends after 36 seconds', () => {
		const WHOLE_MS = 36_000;
		const LISTS_MS = 25_200;
		let timeIsUp: (ms: number) => void;
		beforeEach(() => (timeIsUp = holdTimeouts()));
		const onTime = { budgetMs: WHOLE_MS };
		const RECORD = /^\/v1\/call\/[^/]+$/;
		const hang = (path: RegExp | string, skip = 0) =>
			faults().inject({ kind: 'hang', match: { path }, skip });
		const requestsOf = (path: RegExp) =>
			simulator().requests.filter((request) => path.test(request.path)).length;

		it('returns the calls that it has read in time, and the next ones return the others', async () => {
			const { poll } = await published({}, onTime);
			const calls = await addManyEnded(130);
			hang(RECORD, 70);
			const polling = poll();
			await until('the records', () => requestsOf(RECORD) > 70);
			timeIsUp(WHOLE_MS);
			const first = (await polling).map(callIdOf);
			expect(first.length).toBeGreaterThanOrEqual(50);
			expect(first.length).toBeLessThanOrEqual(70);
			faults().clear();
			const later = [...(await poll()), ...(await poll())].map(callIdOf);
			expect([...first, ...later].sort()).toEqual([...calls].sort());
		});

		it('goes on with other calls than those that never end', async () => {
			const { poll } = await published({ callsOf: 'all' }, onTime);
			const inProgress = Array.from({ length: 60 }, (_, at) =>
				addCall({ createdAt: Date.now() + at }),
			);
			const ended = await addManyEnded(60);
			// The list shows no ends, so each record is read.
			const entries = [...inProgress, ...ended].map((id, at) => ({
				call_id: id,
				created_at: new Date(Date.now() + at * 1_000).toISOString(),
			}));
			faults().respond('/v1/calls', 200, { body: listBody(entries) });
			const found: string[] = [];
			for (let check = 0; check < 4; check++) {
				hang(RECORD, 55);
				const before = requestsOf(RECORD);
				const polling = poll();
				await until('the records', () => requestsOf(RECORD) > before + 55);
				timeIsUp(WHOLE_MS);
				found.push(...(await polling).map(callIdOf));
				faults().clear();
				faults().respond('/v1/calls', 200, { body: listBody(entries) });
			}
			expect(found.length).toBeGreaterThan(50);
		});

		/** Reads as many pages of lists in time as given. Returns the calls, or what the check says. */
		async function pollInTimeFor(
			poll: () => Promise<IDataObject[]>,
			pages: number,
		): Promise<IDataObject[] | Error> {
			const before = listRequests();
			hang('/v1/calls', pages);
			const polling = poll().catch(asError);
			await until('a slow list', () => listRequests() > before + pages);
			timeIsUp(LISTS_MS);
			const found = await polling;
			faults().clear();
			return found;
		}

		/** The pages of one list, if both have equally many. */
		async function pagesOfList(poll: () => Promise<IDataObject[]>): Promise<number> {
			// A list with a call in progress is read by each poll.
			for (const uploadId of [uploads.running, uploads.completed]) addCall({ uploadId });
			const before = listRequests();
			await poll();
			return (listRequests() - before) / 2;
		}

		it('returns the calls of the lists that it has read in time, and a later one those of the others', async () => {
			const { poll } = await published({}, onTime);
			const pages = await pagesOfList(poll);
			const calls: string[] = [];
			for (const uploadId of [uploads.running, uploads.completed])
				calls.push(await addEnded({ uploadId }));
			const found: string[] = [];
			for (let check = 0; check < 40 && found.length < calls.length; check++) {
				const ofCheck = await pollInTimeFor(poll, pages);
				// A list that had no time isn't a failure.
				if (ofCheck instanceof Error) throw ofCheck;
				found.push(...ofCheck.map(callIdOf));
			}
			expect(found.sort()).toEqual(calls.sort());
		});

		it('returns the calls of a list although another one is too slow, and says so when it had the whole time', async () => {
			const { poll } = await published({}, onTime);
			const pages = await pagesOfList(poll);
			for (let count = 0; count < 50; count++) addCall({ uploadId: uploads.completed });
			const inTime = await addEnded();
			const found: string[] = [];
			const messages = new Set<string>();
			for (let check = 0; check < 40 && (found.length === 0 || messages.size === 0); check++) {
				const ofCheck = await pollInTimeFor(poll, pages);
				if (ofCheck instanceof Error) messages.add(ofCheck.message);
				else found.push(...ofCheck.map(callIdOf));
			}
			expect(found).toEqual([inTime]);
			expect([...messages]).toEqual([
				expect.stringMatching(`^Contact list ${uploads.completed} can't be read. The check wasn't`),
			]);
		});

		it('says so if it has read no call', async () => {
			const { poll } = await published({ callsOf: 'all' }, onTime);
			hang('/v1/calls');
			const before = listRequests();
			const polling = poll();
			await until('the list', () => listRequests() > before);
			setClock(new Date(clock.now() + LISTS_MS).toISOString());
			timeIsUp(LISTS_MS);
			await expect(polling).rejects.toThrow(/^The check wasn't complete after 26 seconds$/);
		});

		it('says so if the campaign cannot be read in time', async () => {
			const { poll } = await published({}, onTime);
			hang(/\/status$/);
			const before = requestsOf(/\/status$/);
			const polling = poll();
			await until('the campaign', () => requestsOf(/\/status$/) > before);
			setClock(new Date(clock.now() + LISTS_MS).toISOString());
			timeIsUp(LISTS_MS);
			await expect(polling).rejects.toThrow(/^The check wasn't complete after 26 seconds$/);
		});

		it('fails if it is the first one and its time ends before the last list', async () => {
			const callId = await addEnded();
			// The list shows no ends, so the record is read.
			faults().respond('/v1/calls', 200, { body: listBody([{ call_id: callId }]) });
			const release = simulator().holdResponses(RECORD);
			const first = published({}, onTime);
			await until('the record', () => requestsOf(RECORD) > 0);
			timeIsUp(LISTS_MS);
			release();
			await expect(first).rejects.toThrow(/^The check wasn't complete/);
		});
	});

	it('returns calls that ended between the publication and the first check, although n8n keeps nothing of the publication', async () => {
		await addEnded();
		const { poll, publish } = await published({}, { isDurable: true });
		const between = await addEnded();
		const found = await poll();
		expect(found.map(callIdOf)).toEqual([between]);
		expect(await poll()).toEqual([]);
		const unpublished = await addEnded();
		expect((await publish()).map(callIdOf)).toEqual([unpublished]);
	});

	it.each([1, 2])(
		'returns a call that ended after %i more publications, although n8n keeps nothing of them',
		async (more) => {
			const { poll, publish } = await published({}, { isDurable: true });
			for (let count = 0; count < more; count++) expect(await publish()).toEqual([]);
			const between = await addEnded();
			expect((await poll()).map(callIdOf)).toEqual([between]);
		},
	);

	it.each<[string, INodeParameters, INodeParameters]>([
		['other calls', {}, { callsOf: 'all' }],
		['another start', fromDate(new Date().toISOString()), { startFrom: 'publication' }],
	])(
		'with %s, returns calls that ended between the publication and the first check, although n8n keeps nothing of the publication',
		async (_what, former, changes) => {
			const { poll, publish } = await published(former, { isDurable: true });
			const known = await addEnded();
			expect((await poll()).map(callIdOf)).toEqual([known]);
			await addEnded();
			expect(await publish(changes)).toEqual([]);
			const between = await addEnded();
			expect((await poll()).map(callIdOf)).toEqual([between]);
			expect(await poll()).toEqual([]);
		},
	);

	it('returns the calls of a contact list although another one cannot be listed', async () => {
		const { ids } = await published();
		const calls: string[] = [];
		for (const uploadId of [uploads.running, uploads.completed])
			calls.push(await addEnded({ uploadId }));
		setClock(new Date(clock.now() + 2 * HOUR_MS).toISOString());
		const body = { success: false, errors: ['No such list'] };
		faults().respond('/v1/calls', 422, { times: 1, body });
		const first = await ids();
		expect(first).toHaveLength(1);
		expect([...first, ...(await ids())].sort()).toEqual(calls.sort());
	});

	it('returns the calls in order although one cannot be read, and that one later', async () => {
		const { poll } = await published();
		const added: string[] = [];
		for (let count = 0; count < 12; count++)
			added.push(await addEnded({ createdAt: Date.now() + count * 1_000 }));
		faults().respond(`/v1/call/${added[3]}`, 503);
		expect((await poll()).map(callIdOf)).toEqual(added.filter((_id, at) => at !== 3));
		faults().clear();
		expect((await poll()).map(callIdOf)).toEqual([added[3]]);
	});

	it.each([
		[401, {}, { cause: 'credential-invalid' }],
		[429, { 'Retry-After': '120' }, { cause: 'rate-limited', retryAfterMs: 120_000 }],
		[422, {}, { cause: 'temporarily-unavailable' }],
	])(
		'tells n8n that a call or contact list cannot be read because of %i',
		async (status, headers, failure) => {
			for (const path of ['/v1/calls', /^\/v1\/call\/[^/]+$/]) {
				const { poll } = await published();
				await addEnded();
				faults().respond(path, status, { body: { success: false, errors: ['No'] }, headers });
				await expect(poll()).rejects.toMatchObject({
					message: expect.stringContaining("can't be read"),
					httpCode: String(status),
					failure,
				});
				faults().clear();
			}
		},
	);

	it('does not return a call again after Start From was changed', async () => {
		const { poll, publish } = await published();
		const callId = await addEnded();
		expect((await poll()).map(callIdOf)).toEqual([callId]);
		for (const start of [fromDate(new Date(Date.now() - HOUR_MS).toISOString()), LAST_7_DAYS])
			expect((await publish(start)).map(callIdOf)).not.toContain(callId);
		const later = await addEnded();
		expect((await poll()).map(callIdOf)).toEqual([later]);
	});

	const draft = { campaignId: campaigns.draft };
	it.each<[string, INodeParameters, INodeParameters]>([
		['another campaign', {}, draft],
		['All Calls', {}, { callsOf: 'all' }],
		['a campaign', { callsOf: 'all' }, { callsOf: 'campaign' }],
		['another start', {}, { startFrom: 'publication' }],
	])('with %s and back, returns each outcome once', async (_what, former, changes) => {
		const { first, publish } = await published({ ...LAST_7_DAYS, ...former });
		const found = first.map(callIdOf);
		expect(found.length).toBeGreaterThan(0);
		found.push(...(await publish({ ...changes })).map(callIdOf));
		const between = await addEnded();
		found.push(...(await publish()).map(callIdOf), ...(await publish(changes)).map(callIdOf));
		expect(found).toContain(between);
		expect(found).toHaveLength(new Set(found).size);
	});

	it('with another credential, returns no outcome a second time', async () => {
		const { first, publish, selectOtherCredential } = await published(LAST_7_DAYS);
		expect(first).not.toEqual([]);
		await selectOtherCredential();
		const later = await addEnded();
		expect((await publish()).map(callIdOf)).toEqual([later]);
	});

	it.each<[string, INodeParameters[]]>([
		['Publication', [{}]],
		['Publication after Date', [fromDate(new Date(Date.now() + HOUR_MS).toISOString()), {}]],
	])(
		'Last 7 Days after %s returns the calls that ended before',
		async (_what, [start, ...then]) => {
			const ended = await addEnded();
			const { first, publish } = await published(start);
			expect(first).toEqual([]);
			for (const parameters of then) {
				expect(await publish({ startFrom: 'publication', ...parameters })).toEqual([]);
			}
			const fresh = await published(LAST_7_DAYS);
			const found = (await publish(LAST_7_DAYS)).map(callIdOf);
			expect(found).toContain(ended);
			expect(found.sort()).toEqual(fresh.first.map(callIdOf).sort());
			expect(await publish(LAST_7_DAYS)).toEqual([]);
		},
	);

	it('Date after Publication returns the calls that ended before', async () => {
		const ended = await addEnded();
		const { publish } = await published();
		const date = fromDate(new Date(Date.now() - HOUR_MS).toISOString());
		expect((await publish(date)).map(callIdOf)).toContain(ended);
	});

	it('returns the other calls while many cannot be read for long', async () => {
		const { poll } = await published();
		const added: string[] = [];
		for (let count = 0; count < 24; count++) added.push(await addEnded());
		// Whether the list begins with the oldest or the newest call, it begins with these.
		const others = added.splice(11, 2);
		const path = new RegExp(`/v1/call/(${added.join('|')})`);
		faults().respond(path, 503);
		const found: string[] = [];
		for (let polls = 0; polls < 40 && found.length < others.length; polls++) {
			found.push(...(await poll().catch(() => [])).map(callIdOf));
		}
		expect(found.sort()).toEqual(others.sort());
	});

	it.each([{}, { callsOf: 'all' }])(
		'is not published if the first reading of %j fails',
		async (parameters) => {
			faults().respond(/\/v1\/calls/, 503);
			await expect(published(parameters)).rejects.toThrow('503');
		},
	);

	it('reads a completed list again that could not be read in the hourly reading', async () => {
		const { poll, ids } = await published();
		simulator().completeUpload(uploads.running);
		await ids();
		await ids();
		const redial = await addEnded();
		setClock(new Date(clock.now() + 2 * HOUR_MS).toISOString());
		faults().respond('/v1/calls', 422, { body: { success: false, errors: ['No'] } });
		await expect(poll()).rejects.toThrow("can't be read");
		faults().clear();
		expect(await ids()).toEqual([redial]);
	});

	it('returns a redial of a completed list although another list is in progress and could not be listed before', async () => {
		const { poll, ids } = await published();
		const inOther = await addEnded();
		expect(await ids()).toEqual([inOther]);
		await ids();
		faults().respond('/v1/calls', 422, { times: 1, body: { success: false, errors: ['No'] } });
		await expect(poll()).rejects.toThrow("can't be read");
		const redial = await addEnded({ uploadId: uploads.completed });
		expect(await ids()).toEqual([redial]);
	});

	it('is not published if the record of a listed call cannot be read, unless it was created before Start From', async () => {
		const call = { call_id: 'broken', created_at: new Date(Date.now() - HOUR_MS).toISOString() };
		const body = { success: false, error: 'Cannot be shown' };
		faults().respond('/v1/calls', 200, { body: listBody([call]) });
		faults().respond('/v1/call/broken', 400, { body });
		await expect(published()).rejects.toMatchObject({
			message: expect.stringMatching(
				/^Call "broken" can't be read\. The service rejected the request$/,
			),
			description: expect.stringMatching(
				/choose 'Date' in 'Start From', with a later time.*"?Cannot be shown/s,
			),
		});
		expect((await published(fromDate(new Date().toISOString()))).first).toEqual([]);
	});

	it.each([{}, { call_id: true }, { call_id: 'a b' }])(
		'is not published if the calls of the list are like %j',
		async (call) => {
			faults().respond('/v1/calls', 200, { body: listBody([call]) });
			await expect(published()).rejects.toThrow('No entry of the call list has a call_id');
		},
	);

	/** Fetches a test event in the editor, which changes nothing. */
	async function testEvent(parameters: INodeParameters = {}) {
		const credentials = { [CREDENTIAL]: await harness.addCredential(credentialFor(simulator())) };
		const over = { parameters: { ...WATCHED, ...parameters }, credentials };
		const node = harness.node('campaignCallsTrigger', over);
		const workflow = makeWorkflow([node]);
		const context = pollContext(workflow, node, 'manual');
		const found = await nodeTypes.getByNameAndVersion(node.type).poll?.call(context);
		expect(workflow.staticData).toEqual({});
		return found?.[0]?.map(({ json }) => json);
	}

	/** Adds an ended call that is newer than all others. */
	async function addNewest(outcome: JsonObject): Promise<string> {
		const callId = addCall({ createdAt: Date.now() + simulator().state.calls.size * HOUR_MS });
		await simulator().endCall(callId, outcome);
		return callId;
	}
	const NO_DATA = { data_captured: {} };
	const WITH_DATA = { data_captured: { visit_day: 'Monday' } };

	it('a test event is the newest answered call with captured values, so that they can be mapped', async () => {
		await addNewest({ status: 'picked', ...WITH_DATA });
		const wanted = await addNewest({ status: 'picked', ...WITH_DATA });
		await addNewest({ status: 'not_picked', ...WITH_DATA });
		for (let call = 0; call < 20; call++) await addNewest({ status: 'not_picked', ...NO_DATA });
		await addNewest({ status: 'picked', ...NO_DATA });
		await addNewest({ status: 'picked', data_captured: { visit_day: null } });
		expect(await testEvent()).toMatchObject([{ call_id: wanted, captured_visit_day: 'Monday' }]);
	});

	it('a test event is the newest completed call if none has captured values, or the others cannot be read', async () => {
		simulator().state.calls.clear();
		const older: string[] = [];
		for (let call = 0; call < 20; call++)
			older.push(await addNewest({ status: 'picked', ...NO_DATA }));
		const newest = await addNewest({ status: 'failed', ...NO_DATA });
		addCall({ createdAt: Date.now() + 1_000 * HOUR_MS });
		expect(await testEvent()).toMatchObject([{ call_id: newest }]);
		faults().respond(new RegExp(`/v1/call/(${older.join('|')})`), 503);
		expect(await testEvent()).toMatchObject([{ call_id: newest }]);
		faults().respond(`/v1/call/${newest}`, 503);
		await expect(testEvent()).rejects.toThrow('503');
	});

	it('a test event matches the filters, and is requested from the first calls of the list', async () => {
		const callId = await addNewest(WITH_DATA);
		expect(await testEvent({ include: ['transcript'] })).toMatchObject([
			{ call_id: callId, transcript: expect.any(Array) },
		]);
		const newest = await addNewest(WITH_DATA);
		faults().respond(`/v1/call/${newest}`, 404, { body: NOT_FOUND });
		expect(await testEvent({})).toMatchObject([{ call_id: callId }]);
		await expect(testEvent({ filters: { statuses: 'none of these' } })).rejects.toMatchObject({
			message: 'No completed call matches',
			description:
				"Check 'Calls Of' and 'Filters'. If no call was placed yet, place one, and test again when it's completed.",
		});
		const calls = Array.from({ length: 100 }, () => ({ call_id: randomUUID() }));
		faults().respond('/v1/calls', 200, { body: listBody(calls) });
		const readsOfCalls = () =>
			simulator().requests.filter(({ path }) => path.startsWith('/v1/call/')).length;
		const before = readsOfCalls();
		await expect(testEvent({})).rejects.toThrow('No completed call matches');
		expect(readsOfCalls() - before).toBe(100);
	});
});

it.each<[INodeParameters, string]>([
	[{ campaignId: 'spring' }, "'Campaign' must be a whole number"],
	[{ startFrom: 'soon' }, "'Start From'"],
	[fromDate('soon'), `'Start Date' must be a date (got "soon")`],
	[fromDate(''), `'Start Date' must be a date (got "")`],
	// Without the API mapping.
	[{}, 'call list'],
])('with %j and an empty credential, it is not published', async (parameters, message) => {
	const node = harness.node('campaignCallsTrigger', { parameters: { ...WATCHED, ...parameters } });
	await expect(activate(makeWorkflow([node]))).rejects.toThrow(message);
});
