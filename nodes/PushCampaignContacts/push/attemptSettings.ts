import type { Additions } from '../../shared/api/endpoints';
import type { Column } from './cells';
import { rowsFingerprint } from './checkpoint';
import type { Columns } from './columns';
import type { CampaignTarget } from './pushTypes';

/** The options of a push that a later attempt compares. */
export type AttemptOptions = {
	campaign: CampaignTarget;
	columns: Columns;
	additions: Additions;
	/** Whether the node runs as a tool. A model may repeat a request. */
	isTool: boolean;
};

/** Decides whether a later attempt requests the same as an earlier one. */
export type AttemptSettings = {
	campaign: number;
	column: Column;
	/** The name of the phone column in each file, if there are several. */
	columns?: readonly string[] | undefined;
	/**
	 * A fingerprint of the settings and the contact. A corrected row has another one.
	 *
	 * @param contact as JSON
	 */
	fingerprintOf: (contact: Buffer) => string;
	/** A fingerprint of what is sent besides the rows: agent, release, additional fields. */
	options: string;
	/** A model may request skipped and rejected rows again, and the same rows with other options. */
	isTool: boolean;
};

export function attemptSettings(options: AttemptOptions): AttemptSettings {
	const { campaign, columns, additions, isTool } = options;
	const common = [
		JSON.stringify([campaign, columns.phone, columns.personName, columns.lastName, columns.others]),
		JSON.stringify(additions),
	];
	return {
		campaign: campaign.id,
		column: columns.phone,
		columns: columns.files?.map(({ phone }) => phone.name),
		isTool,
		options: optionsFingerprint(campaign, additions),
		fingerprintOf: (contact) => rowsFingerprint([...common, contact.toString()]),
	};
}

/** A fingerprint of what is sent besides the rows. */
export function optionsFingerprint(campaign: CampaignTarget, additions: Additions): string {
	return rowsFingerprint([JSON.stringify([campaign, additions])]);
}
