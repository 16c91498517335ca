import mapValues from 'lodash/mapValues';
import type { ContractCases } from '../contractCase';
import { agents } from './agents';
import { campaignStatus } from './campaignStatus';
import { chatSend } from './chatSend';
import { chatSession } from './chatSession';
import { dnd } from './dnd';
import { everyWay } from './everyOperation';
import { getCall } from './getCall';
import { injectContext } from './injectContext';
import { listCalls } from './listCalls';
import { placeCall } from './placeCall';
import { pushCampaignContacts } from './pushCampaignContacts';

/** What isn't the same for every operation. */
const own: ContractCases = {
	agents,
	campaignStatus,
	chatSend,
	chatSession,
	dnd,
	getCall: [...getCall, ...listCalls],
	injectContext,
	placeCall,
	pushCampaignContacts,
};

export const contractCases: ContractCases = mapValues(own, (cases, node) => [
	...everyWay(node),
	...cases,
]);
