/** The table of all actions. Tests of every operation derive their cases from it. */
import pick from 'lodash/pick';
import {
	isResourceLocatorValue,
	type IDataObject,
	type INodeExecutionData,
	type INodeParameters,
} from 'n8n-workflow';
import { callColumns } from '../../nodes/core/calls/callRecord';
import { simplifyCampaign, viewCampaign } from '../../nodes/core/campaigns/campaign';
import type { JsonObject } from '../../nodes/core/values/json';
import { plainText } from '../../nodes/core/values/values';
import { pagesOf } from '../contract/callPages';
import { agent } from '../contract/contractCase';
import { exampleFrom, exampleNamed } from '../openapi/examples';
import { fixtures, type Dialect, type Simulator } from '../simulator';

const { calls, campaigns, sessions, dndPhone } = fixtures;

/** Where a change goes that isn't a request to the service. */
export const SOCKET = 'the live connection';
export const TRIGGER = 'a trigger in n8n';

/** The watch URL of a Chat Events Trigger. */
export const TRIGGER_URL = 'https://n8n.example.com/webhook/abc/watch';

/** Every other request: endpoints of docs/openapi.yaml. `{placed}` is the ID of the call that it placed. */
type Reads = string[] | ((dialect: Dialect) => string[]);

/** Another way to use an operation. Its parameters are added to those of the operation. */
type Way = {
	with: INodeParameters;
	sends?: string;
	reads?: Reads;
	items?: INodeExecutionData[];
	/** Whether a model uses it as a tool. */
	isTool?: true;
};

type Operation = {
	/** Valid parameters, without the operation itself. */
	parameters: INodeParameters;
	/** What changes something: an endpoint of docs/openapi.yaml, or one of the above. Undefined if nothing does. */
	sends?: string;
	reads?: Reads;
	/** An output item with every field, for n8n's editor (`scripts/outputSchemas.ts`). Undefined if none is documented. */
	output?: JsonObject;
	items?: INodeExecutionData[];
	prepare?: (simulator: Simulator) => void;
	/** Together with `parameters`, they show every field of the form and every request. */
	ways?: Way[];
	/** Whether it leads to a phone call, or allows one again. */
	callsPeople?: true;
	/** Whether it's sent again if its outcome is unknown, because twice does no harm. */
	isHarmlessTwice?: true;
	/** Whether one request serves all items. */
	servesAllItems?: true;
	/** As a tool: the fields that a model fills in, and what differs from `parameters`. */
	byModel: string[];
	asTool?: INodeParameters;
	/** The outcome of the tool. Default: done. */
	outcome?: string;
};

/** One way to use a node, which reads the fields that its form shows. */
export type Scene = Pick<Operation, 'sends' | 'reads' | 'items' | 'prepare'> &
	Pick<Way, 'isTool'> & {
		/** The key in the table. */
		name: string;
		node: string;
		parameters: INodeParameters;
	};

const rows = (...jsons: IDataObject[]): INodeExecutionData[] => jsons.map((json) => ({ json }));
const csv: INodeExecutionData = {
	json: {},
	binary: {
		data: {
			data: Buffer.from('phone,city\n9876543210,Pune\n').toString('base64'),
			mimeType: 'text/csv',
			fileName: 'leads.csv',
		},
	},
};
const pasted = 'phone\n9876543210';
const contacts = '[{ "phone": "9876543210", "city": "Pune" }]';

const callId = calls.finished;
const sessionId = sessions.open;
const campaignId = String(campaigns.active);
const person = { ...agent(), countryCode: 'IN', phoneNumber: '9876543210' };
const listed = { ...agent(), phone: dndPhone };
const selected = (field: string) => ({ output: 'selected', selectedFields: field });
/** Ends soon. */
const untilRead = { waitMinutes: 1 / 60 };
const session = { resource: 'session', sessionId };
const legacy = { resource: 'legacy', sessionId, ...agent() };
const watchList = {
	...{ resource: 'watchList', sessionId, triggerUrl: TRIGGER_URL },
	triggerSecret: 'open-sesame',
};
const key = { options: { idempotencyKey: 'key-1' } };

const CONNECT = ['POST /v1/chat/session/{id}/ws_token', 'GET /v1/chat/session/{id}/user-stream'];

/** The presigned URL of a recording is elsewhere in each dialect. */
const recordingPath = ({ calls: { recordingUrl } }: Dialect) =>
	new URL(recordingUrl('http://127.0.0.1', '/')).pathname;

/** The requests of a scene, as "METHOD /path". */
export function requestsOf({ parameters, reads = [], sends = SOCKET }: Scene, dialect: Dialect) {
	const { callId, sessionId: chat, campaignId: campaign, agentUuid } = parameters;
	const entered = callId ?? chat ?? campaign ?? agentUuid;
	const id = plainText(isResourceLocatorValue(entered) ? entered.value : entered);
	const read = typeof reads === 'function' ? reads(dialect) : reads;
	const written = sends === SOCKET ? [] : [sends];
	return [...read, ...written].map((request) => request.replace(/\{(?!placed\})\w+\}/, id));
}

const call = exampleFrom('GET /v1/call/{id}');
/** The example has no such value, so its type wouldn't show. */
const optOut = { opted_out: false };
const outcome = { ...callColumns(call, 'opt_out'), ...optOut };
const transcript = exampleFrom('GET /v1/call/{id}/transcript');
const recording = { ...exampleFrom('GET /v1/call/{id}/recording'), expires_at: '' };
const completedCall = {
	...outcome,
	...pick(transcript, 'transcript'),
	recording,
};
const progress = exampleFrom('GET /v1/campaigns/{id}/status');
const listedAgent = exampleNamed('Agent');
const dndEntry = exampleNamed('DndEntry');
const notPlaced = {
	...{ placed: true, not_placed_reason: '', next_opening: '', next_call_possible_at: '' },
	timed_out: false,
};
const turn = {
	...{
		session_id: sessionId,
		state: '',
		reply: '',
		mode: 'ai',
		help_requested: false,
		turn_id: '',
	},
};
const event = { type: '', session_id: sessionId, event_id: '', payload: {} };

/** The same for triggers. */
export const TRIGGER_OUTPUTS: { [node: string]: JsonObject } = {
	callCompletedTrigger: completedCall,
	campaignCallsTrigger: completedCall,
	chatEventsTrigger: event,
};

/** By the name of the node and, if it has operations, of the operation. */
export const OPERATIONS: { [name: string]: Operation } = {
	'placeCall › place': {
		parameters: { ...person, whatToDo: 'place' },
		sends: 'POST /v1/call',
		ways: [
			{ with: { when: 'timeOfDay', scheduledTime: '18:30' } },
			{ with: { when: 'dateTime', scheduledAt: '2099-01-31T18:30:00+05:30' } },
			{
				with: { options: untilRead },
				reads: ['GET /v1/call/{placed}'],
			},
			{
				with: {
					...{
						callingHours: 'within',
						callingDays: 'monday, tuesday, wednesday, thursday, friday, saturday, sunday',
						callingFrom: '00:00',
					},
					...{ callingUntil: '24:00', timeZone: 'UTC' },
				},
			},
			{ with: { callLimit: 'day', maximumCalls: 9 } },
			{ with: { resource: 'call', when: 'now' }, isTool: true },
			{ with: { options: { useLegacyEndpoint: true } }, sends: 'POST /call' },
		],
		callsPeople: true,
		output: {
			...{
				...pick(exampleFrom('POST /v1/call'), 'call_id'),
				scheduled_for: '',
				...notPlaced,
				duplicate_of: 0,
			},
			...outcome,
		},
		byModel: ['countryCode', 'phoneNumber', 'when'],
		asTool: { when: '18:30', options: { maximumCallsPerRun: 5 } },
	},
	'placeCall › askAndWait': {
		parameters: {
			...{ ...person, question: 'May we ship?', yesValues: 'yes', noValues: 'no' },
			options: untilRead,
		},
		reads: ['GET /v1/call/{placed}'],
		sends: 'POST /v1/call',
		output: {
			...{
				answer: 'yes',
				explanation: '',
			},
			...outcome,
			...notPlaced,
			asked: '',
		},
		callsPeople: true,
		byModel: ['phoneNumber', 'question'],
	},
	'getCall › get': {
		parameters: { callId },
		reads: ['GET /v1/call/{id}'],
		ways: [{ with: selected('status') }],
		byModel: ['callId'],
		output: completedCall,
	},
	'getCall › getTranscript': {
		parameters: { callId },
		reads: ['GET /v1/call/{id}/transcript'],
		output: { ...transcript, transcript_text: '' },
		byModel: ['callId'],
	},
	'getCall › getRecording': {
		parameters: { callId },
		reads: ['GET /v1/call/{id}/recording'],
		ways: [
			{
				with: { recordingAs: 'file', outputField: 'data' },
				reads: (dialect) => [
					'GET /v1/call/{id}/recording',
					`GET ${recordingPath(dialect)}${callId}`,
				],
			},
		],
		output: recording,
		byModel: ['callId'],
	},
	'getCall › getMany': {
		parameters: { limit: 3 },
		reads: ['GET /v1/calls'],
		ways: [{ with: { period: 'between' } }],
		servesAllItems: true,
		byModel: ['limit'],
		output: outcome,
	},
	'getCall › getUnreached': {
		parameters: { statuses: 'not_picked', periodDays: 3_650 },
		// All calls.
		reads: pagesOf(40),
		servesAllItems: true,
		byModel: ['statuses', 'maximumAttempts'],
		output: {
			...{ person_name: '', phone: '', attempts: 1, last_outcome: '', last_call_at: '' },
			...{ last_call_id: '', phone_key: '' },
		},
	},
	'dnd › add': {
		parameters: { ...agent(), phone: '+919000000009' },
		sends: 'POST /v1/dnd_numbers',
		isHarmlessTwice: true,
		byModel: ['phone'],
	},
	'dnd › check': {
		parameters: listed,
		reads: ['GET /v1/dnd_numbers'],
		byModel: ['phone'],
		output: { phone: '', on_dnd: true, dnd_phone: '', dnd_reason: '', dnd_created_at: '' },
	},
	'dnd › getMany': {
		parameters: { ...agent(), limit: 3 },
		reads: ['GET /v1/dnd_numbers'],
		ways: [{ with: selected('phone') }],
		servesAllItems: true,
		byModel: ['limit'],
		output: dndEntry,
	},
	'dnd › remove': {
		parameters: listed,
		sends: 'DELETE /v1/dnd_numbers',
		isHarmlessTwice: true,
		callsPeople: true,
		byModel: ['phone'],
		output: {
			...{
				deleted: true,
				agent_uuid: '',
				phone: '',
				was_listed: true,
				message: '',
			},
		},
	},
	'dnd › forget': {
		parameters: { resource: 'rememberedNumber', phone: dndPhone, countryCode: 'IN' },
		byModel: ['phone'],
		outcome: 'not_sent',
		output: { forgotten: true },
	},
	pushCampaignContacts: {
		parameters: { campaignId, ...agent(), whatToDo: 'wait' },
		items: rows({ phone: '98765 43210', person_name: 'Asha', last: 'Rao', city: 'Pune' }),
		sends: 'POST /v1/campaigns/{id}/contacts',
		ways: [
			{ with: { options: { columnsToSend: 'city' } } },
			{ with: { contactsFrom: 'csv' }, items: [csv] },
			{ with: { contactsFrom: 'pasted', pastedRows: pasted }, items: rows({}) },
		],
		callsPeople: true,
		servesAllItems: true,
		byModel: ['campaignId', 'contacts'],
		asTool: { contactsFrom: 'json', contacts },
		output: { push_status: '', phone_key: '', campaign_upload_id: 1 },
	},
	campaignStatus: {
		parameters: { campaignId },
		reads: ['GET /v1/campaigns/{id}/status'],
		ways: [{ with: selected('status') }],
		byModel: ['campaignId'],
		output: {
			...simplifyCampaign(viewCampaign(progress)),
			...{ connect_rate: 0.5, contacts_queued: 1, attempts_per_contact: 0.5 },
		},
	},
	'agents › check': {
		parameters: agent(),
		reads: ['GET /v1/active_agents'],
		servesAllItems: true,
		byModel: ['agentUuid'],
		output: { ...listedAgent, active: true },
	},
	'agents › getMany': {
		parameters: { output: 'simplified' },
		reads: ['GET /v1/active_agents'],
		ways: [{ with: selected('agent_uuid') }],
		servesAllItems: true,
		byModel: ['selectedFields'],
		asTool: selected('agent_name'),
		output: listedAgent,
	},
	'chatSend › sendMessage': {
		parameters: { sessionId, message: 'Hello', sendingMethod: 'socket' },
		sends: SOCKET,
		reads: CONNECT,
		ways: [
			{ with: key },
			{ with: { sendingMethod: 'inbound', ...agent() }, reads: [], sends: 'POST /v1/chat/inbound' },
			{
				with: { sendingMethod: 'async', ...agent() },
				reads: [],
				sends: 'POST /v1/chat/inbound/async',
			},
			{
				with: { sendingMethod: 'legacy', ...agent() },
				reads: [],
				sends: 'POST /chat_messages/send_message',
			},
		],
		byModel: ['sessionId', 'message'],
		output: turn,
	},
	'chatSend › answerInteraction': {
		parameters: { sessionId, interactionId: 'interaction_1', optionId: 'yes' },
		sends: SOCKET,
		reads: CONNECT,
		prepare: (simulator) => {
			const { interactions } = simulator.sessions.get(sessionId);
			for (const [id, options] of [
				['interaction_1', ['yes']],
				['interaction_2', []],
			] as const)
				interactions.set(id, { id, options: [...options], answered: false });
		},
		ways: [
			{ with: { interactionId: 'interaction_2', answerWith: 'response', response: 'On Saturday' } },
			{ with: key },
		],
		byModel: ['sessionId', 'interactionId', 'optionId'],
		output: turn,
	},
	injectContext: {
		parameters: { sessionId, context: 'Wants a visit' },
		sends: 'POST /v1/chat/session/{id}/inject_context',
		output: exampleFrom('POST /v1/chat/session/{id}/inject_context'),
		byModel: ['sessionId', 'context'],
	},
	'chatSession › create': {
		parameters: { resource: 'session', ...agent() },
		sends: 'POST /v1/chat/session',
		isHarmlessTwice: true,
		byModel: ['agentUuid'],
		output: { session_id: sessionId },
	},
	'chatSession › close': {
		parameters: session,
		sends: 'POST /v1/chat/session/{id}/support',
		isHarmlessTwice: true,
		byModel: ['sessionId'],
		output: { session_id: sessionId },
	},
	'chatSession › supportCommand': {
		parameters: { ...session, command: 'close' },
		sends: 'POST /v1/chat/session/{id}/support',
		byModel: ['sessionId', 'command'],
		output: { session_id: sessionId },
	},
	'chatSession › legacyCreate': {
		parameters: { resource: 'legacy', ...agent() },
		sends: 'POST /chat_sessions',
		isHarmlessTwice: true,
		output: exampleFrom('POST /chat_sessions'),
		byModel: ['metadata'],
		asTool: { metadata: '{ "source": "website" }' },
	},
	'chatSession › legacyClose': {
		parameters: legacy,
		sends: 'POST /chat_sessions/{id}/close_session',
		isHarmlessTwice: true,
		output: exampleFrom('POST /chat_sessions/{id}/close_session'),
		byModel: ['sessionId'],
	},
	'chatSession › legacyPause': {
		parameters: legacy,
		sends: 'POST /chat_sessions/{id}/pause_session',
		isHarmlessTwice: true,
		output: exampleFrom('POST /chat_sessions/{id}/pause_session'),
		byModel: ['sessionId'],
	},
	'chatSession › watch': {
		parameters: watchList,
		sends: TRIGGER,
		isHarmlessTwice: true,
		byModel: ['sessionId'],
		output: { session_id: sessionId, watched: true },
	},
	'chatSession › unwatch': {
		parameters: watchList,
		sends: TRIGGER,
		isHarmlessTwice: true,
		byModel: ['sessionId'],
		output: { session_id: sessionId, watched: true },
	},
};

/** The operation of this name. */
export function operationNamed(name: string): Operation {
	const operation = OPERATIONS[name];
	if (operation === undefined) throw new Error(`OPERATIONS has no ${name}`);
	return operation;
}

/** Whether it changes nothing in the service. */
export const isRead = (name: string) => operationNamed(name).sends === undefined;

/** The node type, and the parameters with the operation. */
export function useOf(name: string): { node: string; parameters: INodeParameters } {
	const [node = '', operation] = name.split(' › ');
	const { parameters } = operationNamed(name);
	return { node, parameters: operation === undefined ? parameters : { ...parameters, operation } };
}

function scenesOf([name, { sends, reads, items, prepare, ways = [] }]: [
	string,
	Operation,
]): Scene[] {
	const { node, parameters } = useOf(name);
	const scene: Scene = {
		...{ name, node, parameters },
		...(sends !== undefined && { sends }),
		...(reads !== undefined && { reads }),
		...(items !== undefined && { items }),
		...(prepare !== undefined && { prepare }),
	};
	const others = ways.map(({ with: more, ...rest }) => ({
		...scene,
		...rest,
		parameters: { ...parameters, ...more },
	}));
	return [scene, ...others];
}

/** Every way to use every operation. */
export const SCENES: readonly Scene[] = Object.entries(OPERATIONS).flatMap(scenesOf);
