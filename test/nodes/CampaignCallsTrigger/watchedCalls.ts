import omit from 'lodash/omit';
import pick from 'lodash/pick';
import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	INode,
	INodeParameters,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { z } from 'zod';
import { clock } from '../../../nodes/host/clock';
import { CREDENTIAL } from '../../../nodes/host/http/credential';
import { credentialFor } from '../../contract/credentialFor';
import { engineHarness, makeWorkflow, nodeTypes, pollContext, skipSleeps } from '../../engine';
import { dialects, fixtures } from '../../simulator';
import type { JsonObject } from '../../simulator/json';
import { useSimulator } from '../../simulator/testing/useSimulator';
import { seededCall } from '../../simulator/state/seed';

const { uploads, campaigns } = fixtures;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const WATCHED: INodeParameters = {
	pollTimes: { item: [{ mode: 'everyMinute' }] },
	campaignId: campaigns.active,
};
export const ALL: INodeParameters = { callsOf: 'all' };
export const LAST_7_DAYS: INodeParameters = { startFrom: 'last7Days' };
/** *Start From* > *Date*, in milliseconds after now. */
export const startingAt = (ms: number): INodeParameters => ({
	startFrom: 'date',
	startDate: new Date(clock.now() + ms).toISOString(),
});
/** The paths of the call list, of each call, and of one. */
export const LIST = /^\/v1\/calls$/;
export const RECORD = /^\/v1\/call\/[^/]+$/;
export const recordOf = (callId: string) => `/v1/call/${callId}`;

/** The trigger in n8n's engine, and an account whose active campaign has two contact lists and no calls. */
export function watchedCalls() {
	const harness = engineHarness();
	const dialect = dialects.plain;
	const simulator = useSimulator({ dialect });
	let setClock: (iso: string) => void;
	beforeEach(() => {
		setClock = skipSleeps();
		simulator().state.calls.clear();
	});
	afterEach(() => jest.restoreAllMocks());

	const newCredential = async (fields: ICredentialDataDecryptedObject = {}) =>
		await harness.addCredential({ ...credentialFor(simulator()), ...fields });
	const begin = (
		{ parameters = {}, ...over }: Partial<INode>,
		stored: IDataObject = {},
		...mode: [WorkflowExecuteMode?, number?]
	) => {
		const node = harness.node('campaignCallsTrigger', {
			id: 'calls',
			parameters: { ...WATCHED, ...parameters },
			...over,
		});
		const workflow = makeWorkflow([node]);
		workflow.overrideStaticData(structuredClone(stored));
		const context = pollContext(workflow, node, ...mode);
		const poll = async () => {
			const found = await nodeTypes.getByNameAndVersion(node.type).poll?.call(context);
			return found?.[0]?.map(({ json }) => json) ?? [];
		};
		return { workflow, poll };
	};

	/** Adds a call in progress, a second after the one before. */
	const addCall = (
		callId: string,
		fields: { uploadId?: number; createdAt?: number; agentUuid?: string } = {},
	) => {
		const { calls } = simulator().state;
		const { createdAt = clock.now() + calls.size * 1_000, ...others } = fields;
		const call = { ...seededCall(calls.size, createdAt), uploadId: uploads.running, ...others };
		calls.set(callId, { ...call, callId, finished: false });
		return callId;
	};
	const endCall = async (callId: string, outcome?: JsonObject) =>
		await simulator().endCall(callId, outcome);
	const addEnded = async (
		callId: string,
		{ outcome, ...fields }: Parameters<typeof addCall>[1] & { outcome?: JsonObject } = {},
	) => {
		addCall(callId, fields);
		await endCall(callId, outcome);
		return callId;
	};

	return {
		simulator,
		faults: () => simulator().faults,
		addCall,
		addEnded,
		endCall,
		/** Adds ended calls, which the list has in another order. Returns them in that of their creation. */
		addManyEnded: async (count: number): Promise<string[]> => {
			const ids = Array.from({ length: count }, (_, at) => `call-${at}`);
			// 7 and the count have no common divisor.
			const mixed = ids.map((_, call) => (call * 7) % count);
			for (const at of mixed) {
				await addEnded(ids[at] ?? '', { createdAt: clock.now() + HOUR_MS + at * 1_000 });
			}
			return ids;
		},
		/** The record of a call shows this status, but no end. */
		showStatus: (callId: string, status: string) => {
			if (!simulator().state.calls.has(callId)) addCall(callId);
			const call = simulator().state.calls.get(callId);
			if (call !== undefined) call.outcome = { status };
		},
		/** The call list has only these entries. */
		listOnly: (entries: JsonObject[], { total = entries.length, times = Infinity } = {}) => {
			const items = entries.map((entry) => dialect.calls.listItem(entry));
			const paged = { items, total, next: null, link: null };
			simulator().faults.respond(LIST, 200, { times, body: dialect.calls.listBody(paged) });
		},
		/** How many requests the service has had. */
		requestsOf: (path: RegExp): number =>
			simulator().requests.filter((request) => path.test(request.path)).length,
		pass: (ms: number) => setClock(new Date(clock.now() + ms).toISOString()),

		/** Fetches a test event in the editor, which changes nothing. */
		testEvent: async (
			parameters: INodeParameters = {},
			fields: ICredentialDataDecryptedObject = {},
		) => {
			const credentials = { [CREDENTIAL]: await newCredential(fields) };
			const { workflow, poll } = begin({ parameters, credentials }, {}, 'manual');
			const found = await poll();
			expect(workflow.staticData).toEqual({});
			return found;
		},

		/**
		 * A trigger, and what n8n stores of it: at each publication, and with each execution.
		 *
		 * @param budgetMs after which n8n ends a check
		 * @param isDurable with durable cursors, n8n keeps what a node wrote at publication only with an event
		 * @param isStoredLate n8n begins the next check before it has stored what the node wrote at publication
		 */
		newTrigger: ({
			budgetMs,
			isDurable = false,
			isStoredLate = false,
			executeOnce = false,
		}: TriggerOptions = {}) => {
			const node: Partial<INode> = { name: 'Node', executeOnce };
			let stored: IDataObject = {};
			let current: ReturnType<typeof begin> | undefined;
			const store = () => {
				const copy: unknown = JSON.parse(JSON.stringify(current?.workflow.staticData));
				stored = z.custom<IDataObject>().parse(copy);
			};
			const restart = () => {
				current = begin(node, stored, 'trigger', budgetMs);
			};
			const records = async () => {
				const found = (await current?.poll()) ?? [];
				if (found.length > 0) store();
				return found;
			};
			const poll = async () => (await records()).map(({ call_id: id }) => z.string().parse(id));
			const selectCredential = async () => {
				node.credentials = { [CREDENTIAL]: await newCredential() };
			};
			return {
				/** Publishes the workflow, first or again. Returns the calls with which it starts. */
				publish: async (parameters: INodeParameters = {}) => {
					if (node.credentials === undefined) await selectCredential();
					node.parameters = parameters;
					const ofNode = `node:${node.name}`;
					const before = pick(stored, ofNode);
					restart();
					const found = await poll();
					if (isStoredLate) restart();
					else store();
					if (isDurable && found.length === 0) {
						stored = { ...omit(stored, ofNode), ...before };
						restart();
					}
					return found;
				},
				/** The calls with which a check starts the workflow, oldest first. */
				poll,
				records,
				/** n8n begins again with what it has stored. */
				restart,
				rename: (name: string) => {
					node.name = name;
				},
				selectOtherCredential: selectCredential,
				/** Changes fields of the credential. */
				changeCredential: async (fields: ICredentialDataDecryptedObject) => {
					const id = node.credentials?.[CREDENTIAL]?.id ?? undefined;
					const data = { ...credentialFor(simulator()), ...fields };
					node.credentials = { [CREDENTIAL]: await harness.addCredential(data, id) };
				},
			};
		},
	};
}

type TriggerOptions = {
	budgetMs?: number | undefined;
	isDurable?: boolean;
	isStoredLate?: boolean;
	executeOnce?: boolean;
};
