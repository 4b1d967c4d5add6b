-- The branch of the repository that the agent worked in.
ALTER TABLE session ADD COLUMN branch TEXT;
