import type { Routes } from '../http/route';
import { listAgents } from './agents';
import { listCalls, placeCall, readCall, readRecording, readTranscript } from './calls';
import { addContacts } from './campaignContacts';
import { campaignStatus } from './campaignStatus';
import {
	acceptMessage,
	createSession,
	injectContext,
	mintToken,
	receiveMessage,
	support,
} from './chat';
import { closeLegacy, createLegacy, pauseLegacy, sendLegacy } from './chatLegacy';
import { addDnd, listDnd, removeDnd } from './dnd';

/** Every endpoint of the service. */
export const ROUTES: Routes = {
	'POST /v1/call': placeCall,
	'POST /call': placeCall,
	'GET /v1/call/:id': readCall,
	'GET /v1/call/:id/transcript': readTranscript,
	'GET /v1/call/:id/recording': readRecording,
	'GET /v1/calls': listCalls,
	'GET /v1/active_agents': listAgents,
	'POST /v1/campaigns/:id/contacts': addContacts,
	'GET /v1/campaigns/:id/status': campaignStatus,
	'POST /v1/dnd_numbers': addDnd,
	'GET /v1/dnd_numbers': listDnd,
	'DELETE /v1/dnd_numbers': removeDnd,
	'POST /v1/chat/session': createSession,
	'POST /v1/chat/inbound': receiveMessage,
	'POST /v1/chat/inbound/async': acceptMessage,
	'POST /v1/chat/session/:id/support': support,
	'POST /v1/chat/session/:id/inject_context': injectContext,
	'POST /v1/chat/session/:id/ws_token': mintToken,
	'POST /chat_sessions': createLegacy,
	'POST /chat_messages/send_message': sendLegacy,
	'POST /chat_sessions/:id/close_session': closeLegacy,
	'POST /chat_sessions/:id/pause_session': pauseLegacy,
};
