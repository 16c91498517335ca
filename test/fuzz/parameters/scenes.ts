import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { agent } from '../../contract/contractCase';
import { fixtures, type Simulator } from '../../simulator';

const { calls, campaigns, sessions, dndPhone } = fixtures;

/** One way to use a node, which reads the fields that its form shows. */
export type Scene = {
	node: string;
	parameters: INodeParameters;
	/** Whether a model uses it as a tool. */
	isTool?: boolean;
	items?: INodeExecutionData[];
	prepare?: (simulator: Simulator) => void;
};

const rows = (...jsons: IDataObject[]): INodeExecutionData[] => jsons.map((json) => ({ json }));

const READING = { waitForCompletion: 'reading', waitMinutes: 1 / 60 };
const place = { operation: 'place', ...agent(), countryCode: 'IN', phoneNumber: '9876543210' };
const question = {
	...place,
	operation: 'sendAndWait',
	message: 'May we ship?',
	yesValues: 'yes',
	noValues: 'no',
	options: { ...READING, finishedStatuses: 'picked' },
};

const placeCall: Scene[] = [
	{ node: 'placeCall', parameters: place },
	{ node: 'placeCall', parameters: { ...place, when: 'timeOfDay', scheduledTime: '18:30' } },
	{
		node: 'placeCall',
		parameters: { ...place, when: 'dateTime', scheduledAt: '2099-01-31T18:30:00+05:30' },
	},
	{
		node: 'placeCall',
		parameters: {
			...place,
			...READING,
			options: { finishedStatuses: 'picked' },
		},
	},
	{ node: 'placeCall', parameters: question },
	{
		node: 'placeCall',
		parameters: {
			...place,
			...{ callingHours: 'within', callingDays: 'Mon-Sun', callingFrom: '00:00' },
			...{ callingUntil: '24:00', timeZone: 'UTC', callLimit: 'day' },
		},
	},
	{ node: 'placeCall', parameters: { ...place, resource: 'call', when: 'now' }, isTool: true },
];

const getCall: Scene[] = [
	{ operation: 'get', callId: calls.finished },
	{ operation: 'get', callId: calls.finished, simplify: 'selected', selectedFields: 'status' },
	{ operation: 'getTranscript', callId: calls.finished },
	{ operation: 'getRecording', callId: calls.finished },
	{ operation: 'getRecording', callId: calls.finished, recordingAs: 'file', outputField: 'data' },
	{ operation: 'getMany', limit: 3 },
].map((parameters) => ({ node: 'getCall', parameters }));

const dnd: Scene[] = [
	{ operation: 'add', ...agent(), phone: '+919000000009' },
	{ operation: 'check', ...agent(), phone: dndPhone },
	{ operation: 'checkMany', ...agent(), phone: dndPhone },
	{ operation: 'getMany', ...agent(), limit: 3 },
	{ operation: 'getMany', ...agent(), limit: 3, simplify: 'selected', selectedFields: 'phone' },
	{ operation: 'remove', ...agent(), phone: dndPhone },
	{ resource: 'rememberedNumber', operation: 'forget', phone: dndPhone, countryCode: 'IN' },
].map((parameters) => ({ node: 'dnd', parameters }));

const parameters = { campaignId: String(campaigns.active), ...agent(), whatToDo: 'wait' };
const people = rows({ phone: '98765 43210', person_name: 'Asha', last: 'Rao', city: 'Pune' });
const file: INodeExecutionData[] = [
	{
		json: {},
		binary: {
			data: {
				data: Buffer.from('phone,city\n9876543210,Pune\n').toString('base64'),
				mimeType: 'text/csv',
				fileName: 'leads.csv',
			},
		},
	},
];

const pushes: Scene[] = [
	{ parameters, items: people },
	{ parameters: { ...parameters, otherColumns: 'listed', columnsToSend: 'city' }, items: people },
	{ parameters: { ...parameters, contactsFrom: 'json', contacts: '[{ "phone": "9876543210" }]' } },
	{ parameters: { ...parameters, contactsFrom: 'csv' }, items: file },
	{ parameters: { ...parameters, contactsFrom: 'pasted', pastedRows: 'phone\n9876543210' } },
].map((scene) => ({ node: 'pushCampaignContacts', ...scene }));

const status: Scene[] = [
	{ campaignId: String(campaigns.active) },
	{ campaignId: String(campaigns.active), simplify: 'selected', selectedFields: 'status' },
].map((parameters) => ({ node: 'campaignStatus', parameters }));

const agentsNode: Scene[] = [
	{ operation: 'check', ...agent() },
	{ operation: 'getMany' },
	{ operation: 'getMany', simplify: 'selected', selectedFields: 'agent_uuid' },
].map((parameters) => ({ node: 'agents', parameters }));

const message = { operation: 'sendMessage', sessionId: sessions.open, message: 'Hello' };
const interaction = {
	operation: 'answerInteraction',
	sessionId: sessions.open,
	interactionId: 'interaction_1',
};
const addInteraction = (simulator: Simulator) => {
	const added = { id: 'interaction_1', options: ['yes'], answered: false };
	simulator.sessions.get(sessions.open).interactions.set(added.id, added);
};

const chatSend: Scene[] = [
	{ ...message, sendBy: 'socket' },
	{ ...message, sendBy: 'socket', idempotencyKey: 'key-1' },
	{ ...message, sendBy: 'inbound', ...agent() },
	{ ...message, sendBy: 'async', ...agent() },
	{ ...message, sendBy: 'legacy', ...agent() },
	{ ...interaction, optionId: 'yes' },
	{ ...interaction, answerWith: 'response', response: 'On Saturday' },
	{ ...interaction, optionId: 'yes', idempotencyKey: 'key-1' },
].map((parameters) => ({ node: 'chatSend', parameters, prepare: addInteraction }));

/** The watch URL of a Chat Events Trigger. */
export const TRIGGER_URL = 'https://n8n.example.com/webhook/abc/watch';

const session = { resource: 'session', sessionId: sessions.open };
const legacy = { resource: 'legacy', sessionId: sessions.open, ...agent() };
const watching = {
	resource: 'watchList',
	sessionId: sessions.open,
	triggerUrl: TRIGGER_URL,
	triggerSecret: 'open-sesame',
};

const chatSession: Scene[] = [
	{ ...session, operation: 'close' },
	{ resource: 'session', operation: 'create', ...agent() },
	{ ...session, operation: 'supportCommand', command: 'take_over' },
	{ ...session, operation: 'waitForEvent', timeLimit: 1 },
	{ ...legacy, operation: 'legacyClose' },
	{ ...legacy, operation: 'legacyCreate' },
	{ ...legacy, operation: 'legacyPause' },
	{ ...watching, operation: 'watch' },
	{ ...watching, operation: 'unwatch' },
].map((parameters) => ({ node: 'chatSession', parameters }));

const injectContext: Scene[] = [
	{ node: 'injectContext', parameters: { sessionId: sessions.open, context: 'Wants a visit' } },
];

export const SCENES: Scene[] = [
	...placeCall,
	...getCall,
	...dnd,
	...pushes,
	...status,
	...agentsNode,
	...chatSend,
	...chatSession,
	...injectContext,
];

/** Default values for groups of a fixed collection, of which one field is replaced. */
export const GROUPS: { [group: string]: INodeParameters } = {
	dataExtraction: {
		points: [{ description: 'Which day?', key: 'day', outputFormat: 'weekday', required: true }],
	},
	additionalDataFields: { fields: [{ name: 'plan', value: 'gold' }] },
};
