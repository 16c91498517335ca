import type { Routes } from '../http/route';
import { listAgents } from './agents';
import { listCalls, placeCall, readCall, readRecording, readTranscript } from './calls';
import { addContacts } from './campaignContacts';
import { campaignStatus } from './campaignStatus';
import {
	acceptMessage,
	createSession,
	injectContext,
	mintWsToken,
	receiveMessage,
	support,
} from './chat';
import { closeLegacy, createLegacy, pauseLegacy, sendLegacy } from './chatLegacy';
import { addDnd, listDnd, removeDnd } from './dnd';

/** By the `operationId` of docs/openapi.yaml. */
export const HANDLERS: Routes = {
	placeCall,
	placeCallLegacy: placeCall,
	getCall: readCall,
	getTranscript: readTranscript,
	getRecording: readRecording,
	listCalls,
	listActiveAgents: listAgents,
	addContacts,
	getCampaignStatus: campaignStatus,
	addDndNumber: addDnd,
	listDndNumbers: listDnd,
	removeDndNumber: removeDnd,
	createSession,
	sendInbound: receiveMessage,
	sendInboundAsync: acceptMessage,
	sendSupportCommand: support,
	injectContext,
	mintWsToken,
	createLegacySession: createLegacy,
	sendLegacyMessage: sendLegacy,
	closeLegacySession: closeLegacy,
	pauseLegacySession: pauseLegacy,
};
