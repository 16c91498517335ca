/** The workflows in the examples folder, as a user imports them and then selects credentials. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { INode } from 'n8n-workflow';
import { z } from 'zod';
import { CREDENTIAL } from '../../nodes/host/http/credential';
import type { Reference } from './driver';
import { packageName, projectFolder } from './package-install';
import type { WorkflowJson } from './workflow';

export const examplesFolder = join(projectFolder, 'examples');
export const credentialType = CREDENTIAL;

/** Credentials by their types. */
export type Credentials = Record<string, Reference>;

const workflowJson = z.custom<WorkflowJson>(
	(value) =>
		z.object({ name: z.string(), nodes: z.array(z.object({ type: z.string() })) }).safeParse(value)
			.success,
);

export function exampleFiles(): string[] {
	return readdirSync(examplesFolder).filter((file) => file.endsWith('.json'));
}

export function readExample(file: string, folder = examplesFolder): WorkflowJson {
	return workflowJson.parse(JSON.parse(readFileSync(join(folder, file), 'utf8')));
}

/** The small workflows that the docs show. */
export const recipesFolder = join(projectFolder, 'docs', 'recipes');

/** Adds credentials, which an example can't contain, to the nodes that need them. */
export function withCredentials(workflow: WorkflowJson, accounts: Credentials): WorkflowJson {
	const nodes = workflow.nodes.map((node) => {
		const type = credentialOf(node);
		const account = type === undefined ? undefined : accounts[type];
		if (type === undefined || account === undefined) return node;
		return { ...node, credentials: { [type]: account } };
	});
	return { ...workflow, nodes };
}

/** Credential types of the nodes that aren't ours in the examples. */
export const CREDENTIAL_OF: Record<string, string> = {
	'n8n-nodes-base.googleSheets': 'googleSheetsOAuth2Api',
	'n8n-nodes-base.googleSheetsTool': 'googleSheetsOAuth2Api',
	'n8n-nodes-base.gmail': 'gmailOAuth2',
	'n8n-nodes-base.gmailHitlTool': 'gmailOAuth2',
	'n8n-nodes-base.slack': 'slackApi',
	'n8n-nodes-base.hubspot': 'hubspotAppToken',
	'n8n-nodes-base.zohoCrm': 'zohoOAuth2Api',
	'n8n-nodes-base.salesforce': 'salesforceOAuth2Api',
	'@n8n/n8n-nodes-langchain.lmChatOpenAi': 'openAiApi',
};

function credentialOf({ type }: INode): string | undefined {
	return type.startsWith(`${packageName}.`) ? CREDENTIAL : CREDENTIAL_OF[type];
}
