import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import type { MappingName } from '../../nodes/shared/apiMapping';
import { PROVIDER_SENT_SETTINGS } from '../../nodes/shared/apiMapping/providerSettings';
import { dialects, type Dialect, type Simulator } from '../simulator';

export type DialectName = keyof typeof dialects;

type Details = { [name in MappingName]?: string };

/** Details that are in the code of a dialect, not in its data. */
const DIALECT_CODE: { [name in DialectName]: Details } = {
	plain: { callListPath: 'data', callListTotalPath: 'meta.total_count' },
	terse: {
		callListPath: 'data.calls',
		callListTotalPath: 'data.total',
		callListDateForm: 'dateTime',
		chatCreateSessionPath: 'data.id',
	},
	nested: {
		agentsPath: 'data.on_duty',
		agentsIdPlace: 'key',
		callListPath: 'data.by_id',
		callListKeyName: 'call_id',
		callListItemPath: 'about',
		callListTotalPath: 'meta.found',
		callListPaging: 'nextLink',
		callListPageName: '',
		callListCursorPath: 'links.onward',
		chatCreateSessionPath: 'data.talks.0.ref',
	},
	wrapped: {
		callListPath: 'data.result.items',
		callListItemPath: 'call',
		callListCursorPath: 'data.next_cursor',
		callListDateForm: 'date',
		chatCreateSessionPath: 'data.session.session_id',
	},
};

const PAGING = { page: 'pageFromOne', offset: 'offset', cursor: 'cursor' } as const;

/** The fields of *API Mapping* for a service of this dialect. */
export function apiMappingOf(dialect: Dialect): Details {
	const { dnd, calls, chat } = dialect;
	const placement = (name: string) => (chat.inQuery.includes(name) ? 'query' : '');
	return {
		dndAddPlacement: dnd.add.placement,
		dndAddAgentName: dnd.add.agent,
		dndAddPhoneName: dnd.add.phone,
		dndAddReasonName: dnd.add.reason,
		dndAddAgentPlacement: dnd.add.agentPlacement ?? '',
		dndListAgentName: dnd.list.agent,
		dndListPhoneName: dnd.list.phone,
		dndListPageName: dnd.list.page,
		dndListPerPageName: dnd.list.perPage,
		dndRemovePhonePlacement: dnd.remove.phonePlacement,
		dndRemovePhoneName: dnd.remove.phone ?? '',
		dndRemoveAgentPlacement: dnd.remove.agentPlacement,
		dndRemoveAgentName: dnd.remove.agent,
		callListStatusName: calls.filters.status,
		callListAgentName: calls.filters.agent,
		callListCampaignName: calls.filters.campaign,
		callListFromName: calls.filters.from,
		callListToName: calls.filters.to,
		callListPhoneName: calls.filters.phone,
		callListPaging: PAGING[calls.paging.style],
		callListPageName: calls.paging.position,
		callListPageSizeName: calls.paging.size,
		chatCreateAgentName: chat.create.agent,
		chatCreateAgentPlacement: placement(chat.create.agent),
		chatCreatePersonName: chat.create.person,
		chatInboundAgentName: chat.inbound.agent,
		chatInboundAgentPlacement: placement(chat.inbound.agent),
		chatInboundSessionName: chat.inbound.session,
		chatInboundMessageName: chat.inbound.message,
		chatAsyncAgentName: chat.async.agent,
		chatAsyncSessionName: chat.async.session,
		chatAsyncSessionPlacement: placement(chat.async.session),
		chatAsyncMessageName: chat.async.message,
		...(isDialectName(dialect.name) && DIALECT_CODE[dialect.name]),
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

function isDialectName(name: string): name is DialectName {
	return name in dialects;
}
