import { type SectionEntries, type TestRef, contract, inNode, inTest } from '../entry';

const credential = inTest('credentials/VoiceChatAgentApiTokenApi');
const service = inNode('shared/api/client');
const suite = inTest('contract/contract');
const places = inNode('shared/apiMapping/places');
const request = inNode('PlaceCall/request/callRequest');
const mint = inNode('shared/chat/mint');

const ENVELOPE = 'nodes/shared/api/envelope.ts';
const ERRORS = 'nodes/shared/api/errorTable.ts';

const unwrapped = {
	at: `${ENVELOPE}: unwraps the data and keeps what stands beside it`,
	test: service('data is unwrapped, and what stands beside it is kept'),
};
const refusal = {
	at: `${ENVELOPE}: the service’s own words are kept in the description`,
	test: service('the service’s own words are kept, lists included'),
};

const conventions: SectionEntries = {
	section: 'General conventions',
	items: {
		Transport: { at: 'Credential → Base URL', test: credential("['http', { baseUrl") },
		'Request bodies': {
			at: 'nodes/shared/n8n/transport.ts: sends JSON',
			test: suite('each request with the token, each body as JSON'),
		},
		Responses: {
			at: `${ENVELOPE}: reads JSON, and says what came where it is none`,
			test: [service("['a page at 200'"), service("['half an answer'")],
		},
		'Success envelope': unwrapped,
		'Error envelope': refusal,
		'Agent identifier': {
			at: 'nodes/shared/api/limits.ts: the form of an agent ID',
			test: [request("'agent_A-b_9'"), request("describe('Agent'")],
		},
		Timestamps: {
			at: 'nodes/PlaceCall/request/schedule.ts: writes times with their offset',
			test: inNode('PlaceCall/request/schedule')('a timestamp with offset'),
		},
		success: unwrapped,
		data: unwrapped,
		error: refusal,
		details: refusal,
	},
};

type ErrorRow = [row: string, entry: { at: string; test: TestRef[] }];

const errorRow = (row: string, title: string, ...more: TestRef[]): ErrorRow => [
	row,
	{ at: `${ERRORS}: what happened and what to do`, test: [service(title), ...more] },
];

const errors: SectionEntries[] = [
	{
		section: 'Errors',
		every: refusal,
		items: { success: unwrapped, errors: service('the service’s own words are kept') },
	},
	{
		section: 'Error texts and codes',
		items: Object.fromEntries([
			...[
				'Agent not found or not associated with this account',
				'agent_not_found',
				'call_not_found',
				'recording_not_available',
				'session_closed',
				'Phone number not found on DND list',
				'text naming missing phone',
				'NO_OUTBOUND_NUMBER_CONFIGURED',
				'tell_not_allowed_during_takeover',
				'upstream_body',
			].map((name) => errorRow(name, `'${name}'`)),
			errorRow('Invalid API token', "['Invalid API token'"),
			errorRow("Couldn't find Campaign", '"Couldn\'t find Campaign"'),
			errorRow(
				'text webhook_url is set but post_call_analysis is not enabled on this agent',
				"'post_call_analysis is not enabled'",
			),
			errorRow('error_code', "'NO_OUTBOUND_NUMBER_CONFIGURED'"),
			errorRow(
				'action',
				"'NO_OUTBOUND_NUMBER_CONFIGURED'",
				service('the service’s own words are kept, lists included'),
			),
			errorRow('state', "'upstream_body'"),
			errorRow('reason', "'upstream_body'"),
		]),
	},
	{
		section: 'HTTP status codes',
		items: {
			'200': unwrapped,
			'400': {
				at: `${ERRORS}: known by the body`,
				test: inNode('PlaceCall/refused')("'a bad field'"),
			},
			'401': {
				at: `${ERRORS}: points to the credential`,
				test: contract('agents')('says that the token is not accepted'),
			},
			'403': {
				at: `${ERRORS}: points to the agent`,
				test: [
					inNode('PlaceCall/refused')("'an agent of another account'"),
					mint("['a stream that is not allowed', 403"),
				],
			},
			'404': {
				at: `${ERRORS}: points to the IDs and the base URL`,
				test: inNode('PlaceCall/refused')('an address that does not exist'),
			},
			'409': {
				at: `${ERRORS}: a closed session or an archived campaign`,
				test: [
					service('an archived campaign is known by its 409'),
					mint('knows a closed session by the body'),
				],
			},
			'422': refusal,
			'500': {
				at: `${ENVELOPE}: a write’s outcome is then unknown, and it is not sent again`,
				test: service("['a 500'"),
			},
		},
	},
];

const authentication: SectionEntries = {
	section: 'Authentication',
	items: {
		'1.': {
			at: 'Credential → API Token',
			test: suite('each request with the token, each body as JSON'),
		},
		'2.': {
			at: 'Credential → API Token',
			test: [credential("['a short token'"), suite('the token nowhere else')],
		},
		'3.': {
			at: `${ERRORS}: points to the credential`,
			test: contract('agents')('says that the token is not accepted'),
		},
		'4.': {
			at: `${ERRORS}: points to the agent`,
			test: [
				inNode('PlaceCall/refused')("'an agent of another account'"),
				contract('dnd')('is turned down for ${uuid}, at any status'),
			],
		},
		'5.': {
			at: 'nodes/shared/chat/token.ts: a token of its own for each session',
			test: [
				inNode('shared/chat/realServer')('takes a new token after 4401'),
				inNode('shared/chat/realServer')('connects, sends a message as text, and gets the reply'),
			],
		},
		'6.': {
			at: 'nodes/shared/chat/mint.ts: asks for the stream user',
			test: mint('asks for the stream user of the session'),
		},
	},
};

const limits: SectionEntries = {
	section: 'Limits',
	every: {
		at: 'nodes/shared/api/limits.ts: checked before anything is sent',
		test: request('$field outside of $min to $max is told'),
	},
	items: {
		'initial_greeting length': request('2001 characters are told'),
		'contacts per request': inNode('PushCampaignContacts/outcomes')(
			'goes out in requests of 10,000, one after another',
		),
		'DND results per page': contract('dnd')('reads every page of the list'),
		'recording URL lifetime': {
			at: 'Get Call → Get Recording → output: expires_at',
			test: contract('getCall')('gives a link to the recording and until when it is valid'),
		},
		'WebSocket token lifetime': {
			at: 'nodes/shared/chat/token.ts: renews ahead of time',
			test: inNode('shared/chat/renewal')('five minutes are documented'),
		},
		'API token length': { at: 'Credential → API Token', test: credential("['a short token'") },
		'connections per session': {
			at: 'Chat Events Trigger → Options → Take Over',
			test: inNode('shared/chat/simulator')('does not take a session from another client'),
		},
	},
};

const versioning: SectionEntries = {
	section: 'Versioning',
	items: {
		'1.': {
			at: 'nodes/shared/api/endpoints/index.ts: the addresses',
			test: suite('has a case for each operation'),
		},
		'2.': {
			at: 'Place Call → Options → Use Legacy Endpoint',
			test: [
				inNode('PlaceCall/sent')('Use Legacy Endpoint takes the older address'),
				contract('chatSession')('legacy: creates a session with a welcome message'),
			],
		},
		'3.': {
			at: 'Place Call → Options → Use Legacy Endpoint',
			test: inNode('PlaceCall/simulator')('takes the same call at the legacy address'),
		},
		'4.': {
			at: 'docs/service-api.md: the description that the package is built and checked against',
			test: inTest('coverage/coverage')('each item of the document has an entry'),
		},
		'5.': {
			at: 'Campaign Status → output',
			test: [
				contract('campaignStatus')('gives one flat record'),
				contract('listCalls')('finds calls by every filter'),
				contract('pushCampaignContacts')('is turned down by an archived campaign'),
			],
		},
		'6.': {
			at: 'nodes/shared/apiMapping/places.ts: none is sent',
			test: places('each open place has one entry'),
		},
		'7.': {
			at: 'nodes/shared/apiMapping/places.ts: legacy operations name what replaces them',
			test: places('each open place has one entry'),
		},
	},
};

export const generalEntries: SectionEntries[] = [
	conventions,
	authentication,
	...errors,
	limits,
	versioning,
];
