import type { Route } from '../http/route';
import type { SimulatorState } from '../world';
import { agentRoutes } from './agents';
import { campaignContactRoutes } from './campaignContacts';
import { campaignStatusRoutes } from './campaignStatus';
import { chatInboundRoutes } from './chatInbound';
import { chatLegacyRoutes } from './chatLegacy';
import { chatSessionRoutes } from './chatSession';
import { chatSupportRoutes } from './chatSupport';
import { dndRoutes } from './dnd';
import { listCallRoutes } from './listCalls';
import { placeCallRoutes } from './placeCall';
import { readCallRoutes, recordingFileRoutes } from './readCall';

export function serviceRoutes(world: SimulatorState): Route[] {
	return [
		...placeCallRoutes(world),
		...readCallRoutes(world),
		...listCallRoutes(world),
		...recordingFileRoutes(world),
		...agentRoutes(world),
		...campaignContactRoutes(world),
		...campaignStatusRoutes(world),
		...dndRoutes(world),
		...chatSessionRoutes(world),
		...chatSupportRoutes(world),
		...chatInboundRoutes(world),
		...chatLegacyRoutes(world),
	];
}
