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
	sendMessage: receiveMessage,
	sendMessageAsync: acceptMessage,
	sendSupportCommand: support,
	injectContext,
	mintToken,
	createLegacySession: createLegacy,
	sendLegacyMessage: sendLegacy,
	closeLegacySession: closeLegacy,
	pauseLegacySession: pauseLegacy,
};
