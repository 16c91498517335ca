import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import type { MappingName } from '../../nodes/core/profile/apiMapping';
import { PROVIDER_SENT_SETTINGS } from '../../nodes/core/profile/providerSettings';
import type { Dialect, Simulator } from '../simulator';
import type { Field } from '../simulator/dialects/forms';

/** The fields of *API Mapping* for a service of this dialect. */
export function apiMappingOf({ agents, dnd, calls, chat }: Dialect): {
	[name in MappingName]?: string;
} {
	const { list } = agents;
	const { filters, paging, entries, total } = calls;
	const inQuery = (field: Field) => (field.in === 'query' ? 'query' : '');
	return {
		agentsPath: list.path ?? '',
		agentsIdPlace: list.idPlace ?? '',
		agentsIdPath: list.idPath ?? '',
		agentsNamePath: list.namePath ?? '',
		dndAddPlacement: dnd.add.phone.in,
		dndAddAgentName: dnd.add.agent.name,
		dndAddAgentPlacement: dnd.add.agent.in,
		dndAddPhoneName: dnd.add.phone.name,
		dndAddReasonName: dnd.add.reason.name,
		dndAddReasonPlacement: dnd.add.reason.in,
		dndListAgentName: dnd.list.agent,
		dndListPhoneName: dnd.list.phone,
		dndListPageName: dnd.list.page,
		dndListPerPageName: dnd.list.perPage,
		dndRemovePhonePlacement: dnd.remove.phone.in,
		dndRemovePhoneName: dnd.remove.phone.name === 'phone' ? '' : dnd.remove.phone.name,
		dndRemoveAgentPlacement: dnd.remove.agent.in,
		dndRemoveAgentName: dnd.remove.agent.name,
		callListStatusName: filters.status,
		callListAgentName: filters.agent,
		callListCampaignName: filters.campaign,
		callListFromName: filters.from,
		callListToName: filters.to,
		callListPhoneName: filters.phone,
		callListDateForm: calls.dateForm,
		callListPath: entries.path,
		callListKeyName: entries.keyName ?? '',
		callListItemPath: entries.itemPath ?? '',
		callListTotalPath: total?.path ?? '',
		callListPaging: paging.style,
		// A link has the position of the next page.
		callListPageName: paging.style === 'nextLink' ? '' : paging.position,
		callListPageSizeName: paging.size,
		callListCursorPath: paging.nextPath ?? '',
		chatCreateAgentName: chat.create.agent.name,
		chatCreateAgentPlacement: inQuery(chat.create.agent),
		chatCreatePersonName: chat.create.person.name,
		chatCreatePersonPlacement: inQuery(chat.create.person),
		chatCreateSessionPath: chat.created.path ?? '',
		chatInboundAgentName: chat.inbound.agent.name,
		chatInboundAgentPlacement: inQuery(chat.inbound.agent),
		chatInboundSessionName: chat.inbound.session.name,
		chatInboundSessionPlacement: inQuery(chat.inbound.session),
		chatInboundMessageName: chat.inbound.message.name,
		chatInboundMessagePlacement: inQuery(chat.inbound.message),
		chatAsyncAgentName: chat.async.agent.name,
		chatAsyncAgentPlacement: inQuery(chat.async.agent),
		chatAsyncSessionName: chat.async.session.name,
		chatAsyncSessionPlacement: inQuery(chat.async.session),
		chatAsyncMessageName: chat.async.message.name,
		chatAsyncMessagePlacement: inQuery(chat.async.message),
	};
}

/** A credential for the simulated service. */
export function credentialFor({
	baseUrl,
	token,
	dialect,
}: Pick<Simulator, 'baseUrl' | 'token' | 'dialect'>): ICredentialDataDecryptedObject {
	return {
		baseUrl,
		apiToken: token,
		[PROVIDER_SENT_SETTINGS]: true,
		describeAgents: true,
		describeDnd: true,
		describeCallList: true,
		describeChat: true,
		describeChatPlacement: true,
		...apiMappingOf(dialect),
	};
}
