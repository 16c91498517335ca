import { type SectionEntries, contract, inNode, inTest } from '../entry';

const getCall = contract('getCall');
const dnd = contract('dnd');
const session = contract('chatSession');
const send = contract('chatSend');

export const endpointEntries: SectionEntries[] = [
	{
		section: 'Endpoints',
		items: {
			'POST /v1/call': { at: 'Place Call', test: contract('placeCall')('places a call for later') },
			'POST /call': {
				at: 'Place Call → Options → Use Legacy Endpoint',
				test: inNode('PlaceCall/simulator')('takes the same call at the legacy address'),
			},
			'GET /v1/call/{id}': {
				at: 'Get Call → Get',
				test: getCall('gives every field of the call record'),
			},
			'GET /v1/call/{id}/transcript': {
				at: 'Get Call → Get Transcript',
				test: [
					getCall('gives the transcript, as text too'),
					getCall('gives the empty transcript of a call that nobody answered'),
				],
			},
			'GET /v1/call/{id}/recording': {
				at: 'Get Call → Get Recording',
				test: [
					getCall('gives a link to the recording and until when it is valid'),
					getCall('recognizes that there is no recording, at any status'),
				],
			},
			'GET /v1/calls': {
				at: 'Get Call → Get Many',
				test: contract('listCalls')('finds calls by every filter'),
			},
			'GET /v1/active_agents': {
				at: 'Agents → Get Many Active',
				test: contract('agents')('finds the active agents wherever the answer holds them'),
			},
			'POST /v1/campaigns/{id}/contacts': {
				at: 'Push Campaign Contacts',
				test: contract('pushCampaignContacts')('adds the contacts'),
			},
			'GET /v1/campaigns/{id}/status': {
				at: 'Campaign Status',
				test: contract('campaignStatus')('gives the whole answer'),
			},
			'POST /v1/dnd_numbers': { at: 'DND List → Add', test: dnd('adds a number with its reason') },
			'GET /v1/dnd_numbers': {
				at: 'DND List → Get Many',
				test: [
					dnd('reads every page of the list'),
					dnd('reads no more than the limit, narrowed to some digits'),
				],
			},
			'DELETE /v1/dnd_numbers': {
				at: 'DND List → Remove',
				test: [
					dnd("title: 'removes a number'"),
					dnd('says that a number to remove is not on the list, at any status'),
				],
			},
			'POST /v1/chat/session': {
				at: 'Chat Session → Create',
				test: session('creates a session and names it in one place'),
			},
			'POST /v1/chat/inbound': {
				at: 'Chat Send → Request With Immediate Reply',
				test: send('by request: gives the immediate reply, wherever the answer holds it'),
			},
			'POST /v1/chat/inbound/async': {
				at: 'Chat Send → Request With Later Reply',
				test: send('by later reply: waits for it on the WebSocket'),
			},
			'POST /v1/chat/session/{id}/support': {
				at: 'Chat Session → Support Command',
				test: [
					session('sends any other support command with what it needs'),
					session('explains a refusal of the chat engine, at any status'),
				],
			},
			'POST /v1/chat/session/{id}/inject_context': {
				at: 'Inject Context',
				test: contract('injectContext')('appends entries in the order of the items'),
			},
			'POST /v1/chat/session/{id}/ws_token': {
				at: 'nodes/shared/chat/mint.ts: before each connection',
				test: inNode('shared/chat/mint')('asks for the stream user of the session'),
			},
			WebSocket: {
				at: 'Chat Events Trigger',
				test: inNode('ChatEventsTrigger/events')('each event comes out as its whole envelope'),
			},
			'POST /chat_sessions': {
				at: 'Chat Session → Legacy Create (Deprecated)',
				test: session('legacy: creates a session with a welcome message'),
			},
			'POST /chat_messages/send_message': {
				at: 'Chat Send → Legacy Request (Deprecated)',
				test: send('by legacy request: gives the whole answer'),
			},
			'POST /chat_sessions/{id}/close_session': {
				at: 'Chat Session → Legacy Close (Deprecated)',
				test: session('legacy: closes a session and gives the summary'),
			},
			'POST /chat_sessions/{id}/pause_session': {
				at: 'Chat Session → Legacy Pause (Deprecated)',
				test: session('legacy: pauses a session'),
			},
		},
	},
	{
		section: 'Events',
		items: {
			'Call completion webhook': {
				at: 'Call Completed Trigger',
				test: [
					inNode('CallCompletedTrigger/CallCompletedTrigger')(
						'passes on the call as the service holds it, not as it was reported',
					),
					inTest('contract/callCompleted')('whatever the payload looks like'),
				],
			},
			'Chat delivery webhook': {
				at: 'Chat Delivery Trigger',
				test: inNode('ChatDeliveryTrigger/ChatDeliveryTrigger')("['an object'"),
			},
		},
	},
];
