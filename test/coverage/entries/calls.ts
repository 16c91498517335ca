import { type SectionEntries, contract, inNode } from '../entry';

const sent = inNode('PlaceCall/sent');
const refused = inNode('PlaceCall/refused');
const request = inNode('PlaceCall/request/callRequest');
const getCall = contract('getCall');
const listCalls = contract('listCalls');

const settings = (label: string, title: string) => ({
	at: `Place Call → Call Settings → ${label}`,
	test: [sent(title), request('holds every field under its name')],
});

const point = (label: string) => `Place Call → Data Extraction → Data Point → ${label}`;

const callRequest: SectionEntries = {
	section: 'Call request (body of `POST /call` and `POST /v1/call`)',
	every: { at: point('Description'), test: sent("'Data Extraction',") },
	items: {
		agent_uuid: { at: 'Place Call → Agent', test: sent('only the required fields') },
		phone_number: {
			at: 'Place Call → Phone Number',
			test: [sent('only the required fields'), sent('as a form, a CRM or a spreadsheet delivers')],
		},
		country_code: { at: 'Place Call → Country', test: sent('only the required fields') },
		system_prompt: { at: 'Place Call → Options → System Prompt', test: sent("['System Prompt'") },
		webhook_url: {
			at: 'Place Call → Options → Webhook URL',
			test: sent("'Webhook URL',"),
		},
		person_name: { at: 'Place Call → Person Name', test: sent("['Person Name'") },
		additional_data: {
			at: 'Place Call → Additional Data',
			test: [sent('Additional Data as fields'), request("describe('Additional Data'")],
		},
		initial_greeting: {
			at: 'Place Call → Options → Initial Greeting',
			test: sent("'Initial Greeting',"),
		},
		call_config_overrides: { at: 'Place Call → Call Settings', test: sent('retries in full') },
		data_extraction: { at: 'Place Call → Data Extraction', test: sent("'Data Extraction'") },
		scheduled_at: {
			at: 'Place Call → When to Call',
			test: [sent('a time in India'), sent('text with an offset')],
		},
		max_call_duration_seconds: settings('Maximum Call Duration (Seconds)', 'Maximum Call Duration'),
		enable_callback: settings('Allow Callback', 'Allow Callback off'),
		'retry_config.enabled': settings('Retry When Not Answered', 'Retry When Not Answered off'),
		'retry_config.max_attempts': settings('Retry Attempts', 'retries in full'),
		'retry_config.interval_minutes': settings('Retry Interval (Minutes)', 'retries in full'),
		key: point('Key'),
		description: point('Description'),
		required: point('Required'),
		output_format: point('Output Format'),
	},
};

const callRecord: SectionEntries = {
	section: 'Call record (response of `GET /v1/call/{id}`)',
	every: { at: 'Get Call → Get → output', test: getCall('gives every field of the call record') },
	items: {
		status: [
			getCall('gives every field of the call record'),
			getCall('gives values that the document does not name as they are'),
		],
		id: 'Get Call → Get → output: tag',
		name: 'Get Call → Get → output: tag',
		color_code: 'Get Call → Get → output: tag',
	},
};

const reads: SectionEntries[] = [
	{
		section: 'Transcript',
		every: {
			at: 'Get Call → Get Transcript → output',
			test: getCall('gives the transcript, as text too'),
		},
	},
	{
		section: 'Recording',
		every: {
			at: 'Get Call → Get Recording → output',
			test: getCall('gives a link to the recording and until when it is valid'),
		},
	},
	{
		section: 'GET /v1/calls',
		every: {
			at: 'Get Call → Get Many → Filters',
			test: listCalls('finds calls by every filter'),
		},
		items: {
			'filter: status': 'Get Call → Filters → Status',
			'filter: agent': 'Get Call → Filters → Agent ID',
			'filter: campaign': 'Get Call → Filters → Campaign ID',
			'filter: date range': {
				at: 'Get Call → Filters → From',
				test: listCalls('asks for a range of time in the form that the service takes'),
			},
			'filter: phone number': 'Get Call → Filters → Phone Number',
			campaign_upload_id: 'Get Call → Filters → Contact List ID',
		},
	},
	{
		section: 'Agent',
		every: {
			at: 'Agents → Get Many Active → output',
			test: contract('agents')('finds the active agents wherever the answer holds them'),
		},
	},
];

const placeCall: SectionEntries = {
	section: 'POST /v1/call (and legacy POST /call)',
	every: {
		at: 'Place Call → output',
		test: contract('placeCall')('places a call for later'),
	},
	items: {
		success: {
			at: 'nodes/shared/api/envelope.ts: takes the data out of the envelope',
			test: inNode('shared/api/client')('data is unwrapped, and what stands beside it is kept'),
		},
		'1.': {
			at: 'nodes/PlaceCall/request/callRequest.ts: checks every field before anything is sent',
			test: [
				inNode('PlaceCall/request/callPhone')('Phone Number is empty'),
				request('Country is empty'),
				request('$field outside of $min to $max is told'),
				refused('a greeting too long'),
				refused('a data point without a description'),
				refused('a list as Additional Data'),
				refused("'a bad field'"),
				inNode('PlaceCall/simulator')('names what it does not accept, and the others are called'),
			],
		},
		'2.': {
			at: 'nodes/shared/api/errorTable.ts: names the switch and the way without it',
			test: inNode('PlaceCall/simulator')('turns a Webhook URL down'),
		},
		'3.': {
			at: 'nodes/shared/api/errorTable.ts: points to the Agent list',
			test: inNode('PlaceCall/simulator')("'The agent does not exist in the account"),
		},
		'4.': {
			at: 'nodes/shared/api/errorTable.ts: says to attach a number',
			test: contract('placeCall')('is turned down for an agent without a number, at any status'),
		},
	},
};

export const callEntries: SectionEntries[] = [callRequest, callRecord, ...reads, placeCall];
