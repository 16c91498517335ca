import type { Dialect } from '../simulator';

/** The *Do-Not-Disturb Lists* topic of the credential, filled in as the dialect's owner would. */
export function dndDetails({ dnd: { add, list, remove } }: Dialect) {
	return {
		describeDnd: true,
		dndAddPlacement: add.placement,
		dndAddAgentName: add.agent,
		dndAddPhoneName: add.phone,
		dndAddReasonName: add.reason,
		dndListAgentName: list.agent,
		dndListPhoneName: list.phone,
		dndListPageName: list.page,
		dndListPerPageName: list.perPage,
		dndRemovePhonePlacement: remove.phonePlacement,
		dndRemoveAgentPlacement: remove.agentPlacement,
		dndRemoveAgentName: remove.agent,
	};
}
